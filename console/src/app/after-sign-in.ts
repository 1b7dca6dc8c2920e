// Pages beside the console that send a browser without a session here: `?open=NAME` names one of these, and no address, so a
// link cannot lead anybody elsewhere.

import type { Person } from './session.ts';

const PAGES: ReadonlyMap<string, string> = new Map([['queues', '/console/queues/']]);

/** Where who has signed in goes on; undefined: here. They are for global admins. */
export function pageAfterSignIn(search: string, { admin }: Pick<Person, 'admin'>): string | undefined {
  const wanted = new URLSearchParams(search).get('open');
  return admin && wanted !== null ? PAGES.get(wanted) : undefined;
}
