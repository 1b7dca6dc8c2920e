// The frame around every screen: the top bar, the navigation, and the messages.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useAction } from '../api/use-action.ts';
import { Button } from '../parts/button.tsx';
import { words } from '../words/words.ts';
import { Brand } from './brand.tsx';
import { LanguagePicker } from './language-picker.tsx';
import { Navigation } from './navigation.tsx';
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
  const isManaged = who.provider !== undefined;
  const pages: readonly (readonly [string, string])[] = [
    ['/domains', words.frame.domains],
    ['/account', words.frame.account],
    ...(isManaged
      ? []
      : ([
          ['/wallet', words.frame.wallet],
          ['/tickets', words.frame.tickets],
        ] as const)),
    ...(who.reseller ? ([['/reseller', words.frame.reseller]] as const) : []),
  ];
  const operatorPages = OPERATOR_PAGES.map(
    (page) => [`/operator/${page}`, words.frame.operatorPages[page]] as const,
  );
  const here = [...pages, ...operatorPages].find(([to]) => path === to || path.startsWith(`${to}/`));
  return (
    <div class="frame">
      <header class="bar">
        <a class="button skip" href="#content">
          {words.frame.skip}
        </a>
        <Link to="/domains" class="brand">
          <Brand />
        </Link>
        <div class="who">
          <Button kind="bare" onClick={() => chooseTheme(isDark.value ? 'light' : 'dark')}>
            <span aria-hidden="true">{isDark.value ? '☀' : '☾'}</span>{' '}
            {isDark.value ? words.frame.light : words.frame.dark}
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
      <Navigation class="side" label={words.frame.navigation} here={here?.[1] ?? words.frame.navigation}>
        <Items pages={pages} />
        {who.admin && (
          <>
            <h2>{words.frame.operator}</h2>
            <Items pages={operatorPages} />
          </>
        )}
        <LanguagePicker />
      </Navigation>
      <Content>{children}</Content>
      <Toasts />
    </div>
  );
}

function Items({ pages }: { readonly pages: readonly (readonly [string, string])[] }) {
  return (
    <ul class="plain">
      {pages.map(([to, title]) => (
        <li key={to}>
          <PlaceLink to={to}>{title}</PlaceLink>
        </li>
      ))}
    </ul>
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
          <span>{words.signIn.passwordWanted}</span>
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
