// Pages for global admins. The API enforces this right.

import './operator.css';
import { useEffect } from 'preact/hooks';
import { Route, Router } from 'preact-iso';
import { Boundary, lazyScreen } from '../../app/boundary.tsx';
import { NotFound } from '../../app/not-found.tsx';
import { usePlace } from '../../app/place.tsx';
import { person } from '../../app/session.ts';

const Live = lazyScreen(() => import('./fleet/live-page.tsx'));
const Fleet = lazyScreen(() => import('./fleet/fleet-page.tsx'));
const Queues = lazyScreen(() => import('./fleet/queues-page.tsx'));
const Domains = lazyScreen(() => import('./domains/domains-page.tsx'));
const Domain = lazyScreen(() => import('./domains/domain-page.tsx'));
const Accounts = lazyScreen(() => import('./accounts/accounts-page.tsx'));
const Account = lazyScreen(() => import('./accounts/account-page.tsx'));
const Tickets = lazyScreen(() => import('./desk/tickets-page.tsx'));
const Ticket = lazyScreen(() => import('./desk/ticket-page.tsx'));
const Payments = lazyScreen(() => import('./desk/payments-page.tsx'));
const Audit = lazyScreen(() => import('./desk/audit-page.tsx'));
const Calls = lazyScreen(() => import('./fleet/calls-page.tsx'));
const Registries = lazyScreen(() => import('./fleet/registries-page.tsx'));

export default function OperatorScreen() {
  if (!person().admin) return <NotFound />;
  return (
    <div class="ope">
      <Boundary>
        <Router>
          <Route path="/" component={FirstPage} />
          <Route path="/live" component={Live} />
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
      </Boundary>
    </div>
  );
}

function FirstPage() {
  const { go } = usePlace();
  useEffect(() => go('/operator/live', true), []);
  return null;
}
