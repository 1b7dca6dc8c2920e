// The screen of each path. A screen is loaded when it is first opened, so that the first one loads fast.

import { useState } from 'preact/hooks';
import { Route, Router } from 'preact-iso';
import { forgetLink, openedLink } from '../screens/sign-in/link.ts';
import { BASE } from './base.ts';
import { Boundary, lazyScreen } from './boundary.tsx';
import { NotFound } from './not-found.tsx';
import { session } from './session.ts';

const Domains = lazyScreen(() => import('../screens/domains/domains-screen.tsx'));
const Domain = lazyScreen(() => import('../screens/domain/domain-screen.tsx'));
const Account = lazyScreen(() => import('../screens/account/account-screen.tsx'));
const Wallet = lazyScreen(() => import('../screens/wallet/wallet-screen.tsx'));
const Tickets = lazyScreen(() => import('../screens/tickets/tickets-screen.tsx'));
const Reseller = lazyScreen(() => import('../screens/reseller/reseller-screen.tsx'));
const AcceptInvite = lazyScreen(() => import('../screens/sharing/accept-invite.tsx'));
const ConfirmEmail = lazyScreen(() => import('../screens/account/confirm-email.tsx'));
const Operator = lazyScreen(() => import('../screens/operator/operator-screen.tsx'));

/** Preloads the screen at a path while a session is being checked. A failure is shown when the screen is opened. */
export function preloadScreen(path: string): void {
  if (session.value.kind === 'signed-out') return;
  const [, place = 'domains', isDomain] = path.slice(BASE.length).split('/');
  // a Map, because a path may be a property name, such as `/console/constructor`
  const screens = new Map([
    ['', Domains],
    ['domains', isDomain ? Domain : Domains],
    ['account', Account],
    ['wallet', Wallet],
  ]);
  screens.get(place)?.preload();
}

export function Screens() {
  const [link, setLink] = useState(openedLink);
  const closeLink = () => {
    forgetLink();
    setLink(undefined);
  };
  return (
    <Boundary>
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
        <Route path={`${BASE}/reseller`} component={Reseller} />
        <Route path={`${BASE}/reseller/*`} component={Reseller} />
        <Route path={`${BASE}/operator/*`} component={Operator} />
        <Route default component={NotFound} />
      </Router>
    </Boundary>
  );
}
