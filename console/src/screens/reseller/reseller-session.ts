// The session for the reseller's calls. They accept no cookie (docs/rules.md, "Resellers"), so the person confirms the password to
// get a token. It is only in the memory of this page, and the session ends with the page.

import { effect, signal } from '@preact/signals';
import createClient from 'openapi-fetch';
import { ApiError } from '../../api/api-error.ts';
import { api, dataOf } from '../../api/client.ts';
import type { paths } from '../../api/schema.d.ts';
import { send } from '../../api/send.ts';
import { session } from '../../app/session.ts';
import { reseller } from '../../words/reseller.ts';

const token = signal<string | undefined>(undefined);

export function isUnlocked(): boolean {
  return token.value !== undefined;
}

/** The client for calls below `/reseller/v1`. */
export const resell = createClient<paths>({
  baseUrl: location.origin,
  credentials: 'omit',
  fetch: sendWithToken,
});

/** `otp` is undefined without two-step sign-in. */
export async function unlock(email: string, password: string, otp: string | undefined): Promise<void> {
  const body = { email, password, bearer: true, ...(otp !== undefined && { otp }) };
  token.value = (await dataOf(api.POST('/auth/login', { body })))?.token;
}

/** Ends the session, also while the page is being closed. */
export function lock(): void {
  const held = token.value;
  if (held === undefined) return;
  token.value = undefined;
  const headers = { Authorization: `Bearer ${held}` };
  void fetch('/auth/logout', { method: 'POST', headers, credentials: 'omit', keepalive: true }).catch(
    () => {},
  );
}

addEventListener('pagehide', lock);
effect(() => {
  if (session.value.kind === 'signed-out') lock();
});

async function sendWithToken(request: Request): Promise<Response> {
  if (token.value === undefined) throw new ApiError(401, { error: reseller.unlock.ended });
  request.headers.set('Authorization', `Bearer ${token.value}`);
  try {
    return await send(request);
  } catch (error) {
    const isOver = error instanceof ApiError && (error.status === 401 || error.code === 'reauthenticate');
    if (isOver) lock();
    throw error;
  }
}
