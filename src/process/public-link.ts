// Links based on PUBLIC_URL. Only this setting, never the Host header, determines links, the allowed Origin, and cookies.

/** Page of the console that redeems the link. */
type LinkPage = 'sign-in' | 'reset' | 'register' | 'email' | 'invite';

/** The token is in the fragment, which browsers do not send, so it appears in no server or proxy log. */
export function linkTo(publicUrl: string, page: LinkPage, token: string): string {
  return `${publicUrl}/console/#${page}=${token}`;
}
