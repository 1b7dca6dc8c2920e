// The Idempotency-Key of a request (docs/api.md "Idempotency"). The handler's work and its response are saved in one
// transaction, and a repeated call gets that response.

import { createHash } from 'node:crypto';
import {
  type Answer,
  type CondensedResponse,
  digestOf,
  type IdempotentRequest,
  type RunOnce,
  runOnce,
  type StoredResponse,
} from '../../store/accounts/kept-answers.ts';
import type { Database } from '../../store/postgres/database.ts';
import { badRequest, Problem } from '../answers/problem.ts';
import type { ApiCaller } from '../callers/caller.ts';
import { digestSecret } from './paths.ts';

const MAX_KEY_BYTES = 191;

/** Runs before the body is read. Returns undefined if the client sent no key. */
export function readIdempotencyKey(header: string | string[] | undefined): string | Problem | undefined {
  if (header === undefined) return undefined;
  const key = (Array.isArray(header) ? header.join(',') : header).trim();
  if (key === '') return badRequest('the Idempotency-Key is empty');
  // Node reads headers as Latin-1: each character is one byte.
  if (key.length > MAX_KEY_BYTES) {
    return badRequest(`the Idempotency-Key is longer than ${MAX_KEY_BYTES} bytes`);
  }
  return key;
}

/** The key's restrictions are checked during the work, so they are part of the request. */
export function idempotentRequest(
  asked: { readonly method: string; readonly url: string; readonly segments: readonly Uint8Array[] },
  key: string,
  { account, key: { names, types } }: Pick<ApiCaller, 'account' | 'key'>,
): IdempotentRequest {
  const hash = createHash('sha256');
  for (const bytes of asked.segments) hash.update(bytes);
  if (names !== null || types !== null) hash.update(JSON.stringify({ names, types }));
  const path = digestSecret(asked.url);
  return { accountId: account.id, key, method: asked.method, path, bodyHash: hash.digest() };
}

/** The complete response in stored form. A repeated call does not run the handler again. */
export function storedResponse(
  outcome: unknown,
  headers: Readonly<Record<string, string>>,
  rest?: unknown,
): Answer {
  if (outcome instanceof Problem) {
    return { status: outcome.status, headers: outcome.headers, body: outcome.body };
  }
  return { status: 200, headers, body: outcome, rest };
}

const NOT_KEPT = 'this call was carried out; its response is no longer stored';

/** Returns the first response if `remake` can rebuild it, otherwise a message that the call was carried out. */
export async function remakeAnswer(
  kept: CondensedResponse,
  remake: (kept: CondensedResponse) => Promise<unknown>,
): Promise<StoredResponse> {
  const { status, headers, digest, changeId } = kept;
  const body = await remake(kept);
  if (body !== undefined && Buffer.compare(digestOf(body), digest) === 0) return { status, headers, body };
  const change = changeId === undefined ? {} : { change_id: changeId };
  return { status, headers, body: { message: NOT_KEPT, ...change } };
}

const NOTHING: StoredResponse = { status: 503, headers: {}, body: null };

/** Returns the outcome of an earlier use of this Idempotency-Key, or undefined if it is unused. */
export async function findReplay(db: Database, request: IdempotentRequest): Promise<RunOnce | undefined> {
  const once = await runOnce(db, request, async () => NOTHING); // a failed call is not stored
  return once.kind === 'response' && !once.replayed ? undefined : once;
}
