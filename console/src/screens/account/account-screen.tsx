// The person's own account: pages for profile, two-step sign-in, sessions, keys and security log.

import { Route, Router } from 'preact-iso';
import { Boundary, lazyScreen } from '../../app/boundary.tsx';
import { NotFound } from '../../app/not-found.tsx';
import { Link, usePlace } from '../../app/place.tsx';
import { account } from '../../words/account.ts';
import { words } from '../../words/words.ts';
import './account.css';
import { ProfilePage } from './profile-page.tsx';

const TwoStep = lazyScreen(() => import('./two-step-page.tsx'));
const Sessions = lazyScreen(() => import('./sessions-page.tsx'));
const Keys = lazyScreen(() => import('./keys-page.tsx'));
const Log = lazyScreen(() => import('./log-page.tsx'));

const HOME = '/account';
const PAGES = ['', 'two-step', 'sessions', 'keys', 'log'] as const;

export default function AccountScreen() {
  const { path } = usePlace();
  return (
    <div class="account">
      <div class="head">
        <h1>{words.frame.account}</h1>
      </div>
      <nav class="tabs" aria-label={account.navigation}>
        {PAGES.map((page) => {
          const to = page === '' ? HOME : `${HOME}/${page}`;
          return (
            <Link key={page} to={to} aria-current={path === to ? 'page' : undefined}>
              {account.pages[page === '' ? 'profile' : page]}
            </Link>
          );
        })}
      </nav>
      <Boundary>
        <Router>
          <Route path="/" component={ProfilePage} />
          <Route path="/two-step" component={TwoStep} />
          <Route path="/sessions" component={Sessions} />
          <Route path="/keys" component={Keys} />
          <Route path="/log" component={Log} />
          <Route default component={NotFound} />
        </Router>
      </Boundary>
    </div>
  );
}
