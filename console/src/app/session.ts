// Who is signed in, for every screen.

import { signal } from '@preact/signals';
import { type ApiError, asApiError } from '../api/api-error.ts';
import { api, dataOf, type Schemas } from '../api/client.ts';
import { dropDrafts, ownDrafts } from './drafts.ts';

export type Person = Schemas['Profile'];

type Session =
  | { readonly kind: 'unknown' }
  /** `hasEnded`: not by the person. */
  | { readonly kind: 'signed-out'; readonly hasEnded?: boolean }
  /** The API cannot say now. */
  | { readonly kind: 'away'; readonly error: ApiError }
  | { readonly kind: 'signed-in'; readonly person: Person };

export const session = signal<Session>({ kind: 'unknown' });

export async function loadSession(): Promise<void> {
  try {
    const person = await dataOf(api.GET('/users/me'));
    ownDrafts(person.user_id);
    session.value = { kind: 'signed-in', person };
  } catch (thrown) {
    const error = asApiError(thrown);
    if (error.status === 401) noteSignedOut();
    else session.value = { kind: 'away', error };
  }
}

/** A call said that there is no session. */
export function noteSignedOut(): void {
  const { kind } = session.value;
  if (kind !== 'signed-out') session.value = { kind: 'signed-out', hasEnded: kind === 'signed-in' };
}

/** Screens that only people who are signed in see may rely on it. */
export function person(): Person {
  if (session.value.kind !== 'signed-in') throw new Error('nobody is signed in');
  return session.value.person;
}

/** Drafts go with the session: the next person at this browser is another one. */
export async function signOut(): Promise<void> {
  await api.POST('/auth/logout').catch((error: unknown) => {
    if (asApiError(error).status !== 401) throw error; // it has ended already
  });
  dropDrafts();
  session.value = { kind: 'signed-out' };
}
