// The frame around every screen: the top bar, the navigation, and the messages.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useAction } from '../api/use-action.ts';
import { Button } from '../parts/button.tsx';
import { words } from '../words/words.ts';
import { Link, PlaceLink, usePlace } from './place.tsx';
import { person, signOut } from './session.ts';
import { chooseTheme, isDark } from './theme.ts';
import { closeToast, toast, toasts } from './toasts.ts';
import { useFocusHeld } from './use-focus-held.ts';

/** For a new page, also add its route in screens/operator/operator-screen.tsx. */
const OPERATOR_PAGES = [
  'live',
  'fleet',
  'queues',
  'registries',
  'calls',
  'domains',
  'accounts',
  'tickets',
  'payments',
  'audit',
] as const;

export function Frame({ children }: { readonly children: ComponentChildren }) {
  const who = person();
  const leave = useAction(async () => {
    await signOut();
  });
  const { path } = usePlace();
  const side = useRef<HTMLElement>(null);
  // On a narrow page the navigation is a row that scrolls.
  useEffect(() => {
    const here = side.current?.querySelector<HTMLElement>('[aria-current]');
    if (here != null) side.current?.scrollTo({ left: here.offsetLeft - side.current.offsetLeft - 8 });
  }, [path]);
  const isManaged = who.provider !== undefined;
  return (
    <div class="frame">
      <header class="bar">
        <a class="button skip" href="#content">
          {words.frame.skip}
        </a>
        <Link to="/domains" class="brand">
          <Mark />
          Zonefleet
        </Link>
        <div class="who">
          <Button
            kind="bare"
            aria-label={isDark.value ? words.frame.light : words.frame.dark}
            onClick={() => chooseTheme(isDark.value ? 'light' : 'dark')}
          >
            {isDark.value ? '☀' : '☾'}
          </Button>
          <span class="email">{who.email}</span>
          <Button
            isBusy={leave.isBusy}
            onClick={async () => {
              if (!(await leave.run())) toast(words.frame.signOutFailed, 'bad');
            }}
          >
            {words.frame.signOut}
          </Button>
        </div>
      </header>
      <nav class="side" ref={side} aria-label={words.frame.navigation}>
        <ul class="plain">
          <Item to="/domains">{words.frame.domains}</Item>
          <Item to="/account">{words.frame.account}</Item>
          {!isManaged && <Item to="/wallet">{words.frame.wallet}</Item>}
          {!isManaged && <Item to="/tickets">{words.frame.tickets}</Item>}
        </ul>
        {who.admin && (
          <>
            <h2>{words.frame.operator}</h2>
            <ul class="plain">
              {OPERATOR_PAGES.map((page) => (
                <Item key={page} to={`/operator/${page}`}>
                  {words.operator.pages[page]}
                </Item>
              ))}
            </ul>
          </>
        )}
      </nav>
      <Content>{children}</Content>
      <Toasts />
    </div>
  );
}

function Item({ to, children }: { readonly to: string; readonly children: string }) {
  return (
    <li>
      <PlaceLink to={to}>{children}</PlaceLink>
    </li>
  );
}

/** Scrolls a new screen to its top, and announces it to screen readers. */
function Content({ children }: { readonly children: ComponentChildren }) {
  const { path } = usePlace();
  const main = useRef<HTMLElement>(null);
  useFocusHeld(main);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) {
      scrollTo(0, 0);
      main.current?.focus({ preventScroll: true });
    }
    isFirst.current = false;
  }, [path]);
  return (
    <main class="content" id="content" tabIndex={-1} ref={main}>
      {!person().password_set && !person().identity && path !== '/account' && (
        <div class="note warn row spread">
          <span>{words.account.passwordWanted}</span>
          <Link to="/account" class="button">
            {words.signIn.setPassword}
          </Link>
        </div>
      )}
      {children}
    </main>
  );
}

function Toasts() {
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, tone, text }) => (
        <div key={id} class={`note ${tone}`}>
          <span>{text}</span>
          <Button kind="bare" aria-label={words.common.close} onClick={() => closeToast(id)}>
            ✕
          </Button>
        </div>
      ))}
    </div>
  );
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <path fill="#2257c5" d="M16 2 28 9v14l-12 7L4 23V9z" />
      <path
        fill="none"
        stroke="#fff"
        stroke-width="2.4"
        stroke-linejoin="round"
        stroke-linecap="round"
        d="M16 9v5m0 0-6 4v4m6-8 6 4v4"
      />
      <circle cx="16" cy="8.6" r="2.4" fill="#fff" />
      <circle cx="10" cy="22.4" r="2.4" fill="#fff" />
      <circle cx="22" cy="22.4" r="2.4" fill="#fff" />
    </svg>
  );
}
