// The session of the signed-in person, for every screen.

import { signal } from '@preact/signals';
import { type ApiError, asApiError } from '../api/api-error.ts';
import { api, dataOf, type Schemas } from '../api/client.ts';
import { dropDrafts, ownDrafts } from './drafts.ts';
import { forget, keep, kept } from './storage.ts';

export type Person = Schemas['Profile'];

type Session =
  | { readonly kind: 'unknown' }
  /** `hasEnded` is true unless the person signed out. `hasIdentity` is true if a person with a linked identity did. */
  | { readonly kind: 'signed-out'; readonly hasEnded?: boolean; readonly hasIdentity?: boolean }
  /** The API is unavailable. */
  | { readonly kind: 'away'; readonly error: ApiError }
  | { readonly kind: 'signed-in'; readonly person: Person };

/** Set while a person is signed in. Without it, the sign-in is shown before the API has responded. */
const HINT = 'session';

export const session = signal<Session>({ kind: kept(HINT) === undefined ? 'signed-out' : 'unknown' });

export async function loadSession(): Promise<void> {
  try {
    const person = await dataOf(api.GET('/users/me'));
    ownDrafts(person.user_id);
    keep(HINT, '1');
    session.value = { kind: 'signed-in', person };
  } catch (thrown) {
    const error = asApiError(thrown);
    if (error.status === 401) noteSignedOut();
    else session.value = { kind: 'away', error };
  }
}

/** Called if a response reports that there is no session. */
export function noteSignedOut(): void {
  forget(HINT);
  const { kind } = session.value;
  if (kind !== 'signed-out') session.value = { kind: 'signed-out', hasEnded: kind === 'signed-in' };
}

/** Returns the session. Only for screens that require a sign-in. */
export function person(): Person {
  if (session.value.kind !== 'signed-in') throw new Error('nobody is signed in');
  return session.value.person;
}

/** Removes the drafts, too, because another person may use this browser next. */
export async function signOut(): Promise<void> {
  const hasIdentity = session.value.kind === 'signed-in' && session.value.person.identity;
  await api.POST('/auth/logout').catch((error: unknown) => {
    if (asApiError(error).status !== 401) throw error; // the session has already ended
  });
  dropDrafts();
  forget(HINT);
  session.value = { kind: 'signed-out', hasIdentity };
}
