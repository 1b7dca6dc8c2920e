// Pages next to the console that redirect to it if the browser has no session. `?open=NAME` selects one by name, not by
// address, so that a link cannot lead to another site.

import type { Person } from './session.ts';

const PAGES: ReadonlyMap<string, string> = new Map([['queues', '/console/queues/']]);

/** Path to open after the sign-in. Undefined to stay here. The pages are for global admins. */
export function pageAfterSignIn(search: string, { admin }: Pick<Person, 'admin'>): string | undefined {
  const wanted = new URLSearchParams(search).get('open');
  return admin && wanted !== null ? PAGES.get(wanted) : undefined;
}
