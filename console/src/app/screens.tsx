// Which screen each path shows. A screen is loaded when it is first opened, so that the first one comes fast.

import { useState } from 'preact/hooks';
import { ErrorBoundary, lazy, Route, Router } from 'preact-iso';
import { Button } from '../parts/button.tsx';
import { Note } from '../parts/failure.tsx';
import { words } from '../words/words.ts';
import { NotFound } from './not-found.tsx';
import { BASE } from './place.tsx';

const Domains = lazy(() => import('../screens/domains/domains-screen.tsx'));
const Domain = lazy(() => import('../screens/domain/domain-screen.tsx'));

export function Screens() {
  const [failed, setFailed] = useState<Error>();
  if (failed !== undefined) {
    return (
      <Note tone="bad">
        <p>{words.failures.screenNotLoaded}</p>
        <Button onClick={() => location.reload()}>{words.common.reload}</Button>
      </Note>
    );
  }
  return (
    <ErrorBoundary onError={setFailed}>
      <Router>
        <Route path={`${BASE}`} component={Domains} />
        <Route path={`${BASE}/domains`} component={Domains} />
        <Route path={`${BASE}/domains/:domain`} component={Domain} />
        <Route path={`${BASE}/domains/:domain/*`} component={Domain} />
        <Route default component={NotFound} />
      </Router>
    </ErrorBoundary>
  );
}
