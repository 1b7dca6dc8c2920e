// Leaves the console for the page of the identity provider, which returns to /console/oidc.

import { ApiError } from '../api/api-error.ts';
import { api, dataOf } from '../api/client.ts';
import { words } from '../words/words.ts';
import { BASE } from './base.ts';
import { type Kept, type Purpose, readKept } from './returned.ts';

export const RETURN_PATH = `${BASE}/oidc`;

const KEPT = 'identity';
const CONFIRMED = 'identity-confirmed';

export async function goToProvider(purpose: Purpose, page: string): Promise<void> {
  const url = await begin(purpose);
  keep({ purpose, page });
  location.assign(url);
}

/** Confirms the session in a new window. Must be called by a click, otherwise browsers block the window. */
export async function confirmInWindow(): Promise<void> {
  keep({ purpose: 'confirm', page: `${BASE}/account` });
  const opened = open('about:blank'); // gets a copy of the storage of this tab
  takeKept();
  if (opened === null) throw new ApiError(0, { error: words.password.windowBlocked });
  try {
    opened.location.href = await begin('confirm');
  } catch (error) {
    opened.close();
    throw error;
  }
}

async function begin(purpose: Purpose): Promise<string> {
  return (await dataOf(api.POST('/auth/oidc/begin', { body: { purpose } }))).url;
}

function keep(kept: Kept): void {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // the storage is blocked: the start page opens afterwards
  }
}

/** Returns what this tab kept before it opened the provider's page, once. */
export function takeKept(): Kept {
  try {
    const text = sessionStorage.getItem(KEPT);
    sessionStorage.removeItem(KEPT);
    return readKept(text);
  } catch {
    return readKept(null);
  }
}

/** Notifies the other windows that the session is confirmed. */
export function reportConfirmed(): void {
  const channel = new BroadcastChannel(CONFIRMED);
  channel.postMessage(true);
  channel.close();
}

/** Calls `listener` when another window confirms the session. Returns a function that stops listening. */
export function onConfirmed(listener: () => void): () => void {
  const channel = new BroadcastChannel(CONFIRMED);
  channel.onmessage = listener;
  return () => channel.close();
}
