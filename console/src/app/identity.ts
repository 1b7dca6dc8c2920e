// Leaves the console for the page of the identity provider, which returns to /console/oidc.

import { api, dataOf } from '../api/client.ts';
import { BASE } from './base.ts';
import { type Kept, type Purpose, readKept } from './returned.ts';

export const RETURN_PATH = `${BASE}/oidc`;
/** A new window with this address opens the provider's page to confirm the session. */
export const CONFIRM_HREF = `${RETURN_PATH}?begin=confirm`;

const KEPT = 'identity';
const CONFIRMED = 'identity-confirmed';

export async function goToProvider(purpose: Purpose, page: string): Promise<void> {
  const { url } = await dataOf(api.POST('/auth/oidc/begin', { body: { purpose } }));
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ purpose, page } satisfies Kept));
  } catch {
    // the storage is blocked: the start page opens afterwards
  }
  location.assign(url);
}

/** Returns what `goToProvider` kept in this tab, once. */
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
