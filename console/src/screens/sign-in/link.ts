// Parses a link from a mail or the command line: `#sign-in=TOKEN`. The token is in the fragment, which browsers do not send. It is
// removed from the address bar immediately, and used only when the person clicks the button.

export type LinkKind = 'sign-in' | 'reset' | 'register' | 'email' | 'invite';

export interface OpenedLink {
  readonly kind: LinkKind;
  readonly token: string;
}

const LINK = /^#(sign-in|reset|register|email|invite)=([\w-]{1,100})$/;

let opened: OpenedLink | undefined;

/** Must be called before the address is read elsewhere. */
export function takeLink(): void {
  const [, kind, token] = LINK.exec(location.hash) ?? [];
  if (kind === undefined || token === undefined) return;
  opened = { kind: kind as LinkKind, token };
  history.replaceState(null, '', location.pathname + location.search);
}

/** Opens a link that is pasted into the address bar of this page, which changes only the fragment. */
export function followLinks(): void {
  addEventListener('hashchange', () => {
    if (LINK.test(location.hash)) location.reload();
  });
}

export function openedLink(): OpenedLink | undefined {
  return opened;
}

export function forgetLink(): void {
  opened = undefined;
}
