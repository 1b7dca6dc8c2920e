// Pages for resellers: their clients and machine tokens.

import './reseller.css';
import { Route, Router } from 'preact-iso';
import { Boundary, lazyScreen } from '../../app/boundary.tsx';
import { NotFound } from '../../app/not-found.tsx';
import { Link, usePlace } from '../../app/place.tsx';
import { person } from '../../app/session.ts';
import { reseller as text } from '../../words/reseller.ts';
import { words } from '../../words/words.ts';
import { ClientsPage } from './clients-page.tsx';
import { isUnlocked } from './reseller-session.ts';
import { Unlock } from './unlock.tsx';

const Client = lazyScreen(() => import('./client-page.tsx'));
const Tokens = lazyScreen(() => import('./tokens-page.tsx'));

const HOME = '/reseller';
const PAGES = ['', 'tokens'] as const;

export default function ResellerScreen() {
  const { path } = usePlace();
  if (!person().reseller) return <NotFound />;
  return (
    <div class="reseller">
      <div class="head">
        <h1>{words.frame.reseller}</h1>
      </div>
      <nav class="tabs" aria-label={words.frame.reseller}>
        {PAGES.map((page) => {
          const to = page === '' ? HOME : `${HOME}/${page}`;
          const isHere = page === '' ? path !== `${HOME}/tokens` : path === to;
          return (
            <Link key={page} to={to} aria-current={isHere ? 'page' : undefined}>
              {text.pages[page === '' ? 'clients' : page]}
            </Link>
          );
        })}
      </nav>
      {isUnlocked() ? (
        <Boundary>
          <Router>
            <Route path="/" component={ClientsPage} />
            <Route path="/clients/:id" component={Client} />
            <Route path="/tokens" component={Tokens} />
            <Route default component={NotFound} />
          </Router>
        </Boundary>
      ) : (
        <Unlock />
      )}
    </div>
  );
}
