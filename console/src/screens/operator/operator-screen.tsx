// What global admins see of the whole service. Others have no such pages: the API refuses them as well.

import './operator.css';
import { useEffect } from 'preact/hooks';
import { lazy, Route, Router } from 'preact-iso';
import { NotFound } from '../../app/not-found.tsx';
import { usePlace } from '../../app/place.tsx';
import { person } from '../../app/session.ts';

const Fleet = lazy(() => import('./fleet/fleet-page.tsx'));
const Queues = lazy(() => import('./fleet/queues-page.tsx'));
const Domains = lazy(() => import('./domains/domains-page.tsx'));
const Domain = lazy(() => import('./domains/domain-page.tsx'));
const Accounts = lazy(() => import('./accounts/accounts-page.tsx'));
const Account = lazy(() => import('./accounts/account-page.tsx'));
const Tickets = lazy(() => import('./desk/tickets-page.tsx'));
const Ticket = lazy(() => import('./desk/ticket-page.tsx'));
const Payments = lazy(() => import('./desk/payments-page.tsx'));
const Audit = lazy(() => import('./desk/audit-page.tsx'));
const Calls = lazy(() => import('./fleet/calls-page.tsx'));
const Registries = lazy(() => import('./fleet/registries-page.tsx'));

export default function OperatorScreen() {
  if (!person().admin) return <NotFound />;
  return (
    <div class="ope">
      <Router>
        <Route path="/" component={FirstPage} />
        <Route path="/fleet" component={Fleet} />
        <Route path="/queues" component={Queues} />
        <Route path="/registries" component={Registries} />
        <Route path="/calls" component={Calls} />
        <Route path="/domains" component={Domains} />
        <Route path="/domains/:id" component={Domain} />
        <Route path="/accounts" component={Accounts} />
        <Route path="/accounts/:id" component={Account} />
        <Route path="/tickets" component={Tickets} />
        <Route path="/tickets/:id" component={Ticket} />
        <Route path="/payments" component={Payments} />
        <Route path="/audit" component={Audit} />
        <Route default component={NotFound} />
      </Router>
    </div>
  );
}

function FirstPage() {
  const { go } = usePlace();
  useEffect(() => go('/operator/fleet', true), []);
  return null;
}
