// What a link that came by mail or from the command line asks for: `#sign-in=TOKEN`. The token stands in the fragment, which
// is not sent; it is taken out of the address bar at once, and used only when the person presses the button.

export type LinkKind = 'sign-in' | 'reset' | 'register' | 'email' | 'invite';

export interface OpenedLink {
  readonly kind: LinkKind;
  readonly token: string;
}

const LINK = /^#(sign-in|reset|register|email|invite)=([\w-]{1,100})$/;

let opened: OpenedLink | undefined;

/** Call it before anything reads the address. */
export function takeLink(): void {
  const [, kind, token] = LINK.exec(location.hash) ?? [];
  if (kind === undefined || token === undefined) return;
  opened = { kind: kind as LinkKind, token };
  history.replaceState(null, '', location.pathname + location.search);
}

export function openedLink(): OpenedLink | undefined {
  return opened;
}

export function forgetLink(): void {
  opened = undefined;
}
