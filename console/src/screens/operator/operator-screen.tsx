// What global admins see of the whole service. Others have no such pages: the API refuses them as well.

import './operator.css';
import { useEffect } from 'preact/hooks';
import { lazy, Route, Router } from 'preact-iso';
import { NotFound } from '../../app/not-found.tsx';
import { usePlace } from '../../app/place.tsx';
import { person } from '../../app/session.ts';

const Fleet = lazy(() => import('./fleet-page.tsx'));
const Queues = lazy(() => import('./queues-page.tsx'));
const Registries = lazy(() => import('./registries-page.tsx'));

export default function OperatorScreen() {
  if (!person().admin) return <NotFound />;
  return (
    <div class="ope">
      <Router>
        <Route path="/" component={FirstPage} />
        <Route path="/fleet" component={Fleet} />
        <Route path="/queues" component={Queues} />
        <Route path="/registries" component={Registries} />
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
