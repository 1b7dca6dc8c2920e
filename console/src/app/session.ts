// Who is signed in, for every screen.

import { signal } from '@preact/signals';
import { ApiError } from '../api/api-error.ts';
import { api, dataOf, type Schemas } from '../api/client.ts';
import { dropDrafts } from './drafts.ts';

export type Person = Schemas['Profile'];

type Session =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'signed-out' }
  /** The API cannot say now. */
  | { readonly kind: 'away'; readonly error: ApiError }
  | { readonly kind: 'signed-in'; readonly person: Person };

export const session = signal<Session>({ kind: 'unknown' });

export async function loadSession(): Promise<void> {
  try {
    session.value = { kind: 'signed-in', person: await dataOf(api.GET('/users/me')) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    session.value = error.status === 401 ? { kind: 'signed-out' } : { kind: 'away', error };
  }
}

/** Screens that only people who are signed in see may rely on it. */
export function person(): Person {
  if (session.value.kind !== 'signed-in') throw new Error('nobody is signed in');
  return session.value.person;
}

/** Drafts go with the session: the next person at this browser is another one. */
export async function signOut(): Promise<void> {
  await api.POST('/auth/logout');
  dropDrafts();
  session.value = { kind: 'signed-out' };
}
