// PUBLIC_URL: where browsers find us. It alone makes links, the Origin that may write, and cookies; the Host header never does.

/** What a link is for: the console's page that redeems it. */
type LinkPage = 'sign-in' | 'reset' | 'register' | 'email' | 'invite';

/** The token is in the fragment, which browsers do not send: no log of a server or proxy has it. */
export function linkTo(publicUrl: string, page: LinkPage, token: string): string {
  return `${publicUrl}/console/#${page}=${token}`;
}
