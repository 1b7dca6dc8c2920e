// Which screen each path shows. A screen is loaded when it is first opened, so that the first one comes fast.

import { useState } from 'preact/hooks';
import { ErrorBoundary, lazy, Route, Router } from 'preact-iso';
import { Button } from '../parts/button.tsx';
import { Note } from '../parts/failure.tsx';
import { forgetLink, openedLink } from '../screens/sign-in/link.ts';
import { words } from '../words/words.ts';
import { NotFound } from './not-found.tsx';
import { BASE } from './place.tsx';

const Domains = lazy(() => import('../screens/domains/domains-screen.tsx'));
const Domain = lazy(() => import('../screens/domain/domain-screen.tsx'));
const Account = lazy(() => import('../screens/account/account-screen.tsx'));
const Wallet = lazy(() => import('../screens/wallet/wallet-screen.tsx'));
const Tickets = lazy(() => import('../screens/tickets/tickets-screen.tsx'));
const AcceptInvite = lazy(() => import('../screens/sharing/accept-invite.tsx'));
const ConfirmEmail = lazy(() => import('../screens/account/confirm-email.tsx'));
const Operator = lazy(() => import('../screens/operator/operator-screen.tsx'));

export function Screens() {
  const [failed, setFailed] = useState<Error>();
  const [link, setLink] = useState(openedLink);
  const closeLink = () => {
    forgetLink();
    setLink(undefined);
  };
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
      {link?.kind === 'invite' && <AcceptInvite token={link.token} onDone={closeLink} />}
      {link?.kind === 'email' && <ConfirmEmail token={link.token} onDone={closeLink} />}
      <Router>
        <Route path={`${BASE}`} component={Domains} />
        <Route path={`${BASE}/domains`} component={Domains} />
        <Route path={`${BASE}/domains/:domain`} component={Domain} />
        <Route path={`${BASE}/domains/:domain/*`} component={Domain} />
        <Route path={`${BASE}/account`} component={Account} />
        <Route path={`${BASE}/account/*`} component={Account} />
        <Route path={`${BASE}/wallet`} component={Wallet} />
        <Route path={`${BASE}/wallet/*`} component={Wallet} />
        <Route path={`${BASE}/tickets`} component={Tickets} />
        <Route path={`${BASE}/tickets/*`} component={Tickets} />
        <Route path={`${BASE}/operator/*`} component={Operator} />
        <Route default component={NotFound} />
      </Router>
    </ErrorBoundary>
  );
}
