// The Idempotency-Key of a request (api.md "Idempotency"): with one, the handler's work and the answer to it are saved in
// one transaction, and a repeat gets that answer.

import { createHash } from 'node:crypto';
import type { Database } from '../store/database.ts';
import {
  type Answer,
  type CondensedResponse,
  digestOf,
  type IdempotentRequest,
  type RunOnce,
  runOnce,
  type StoredResponse,
} from '../store/idempotency.ts';
import type { Caller } from './caller.ts';
import { badRequest, Problem } from './problem.ts';

const MAX_KEY_OCTETS = 191;

/** Judged before the body is read. Undefined: the caller sent none. */
export function readIdempotencyKey(header: string | string[] | undefined): string | Problem | undefined {
  if (header === undefined) return undefined;
  const key = (Array.isArray(header) ? header.join(',') : header).trim();
  if (key === '') return badRequest('the Idempotency-Key is empty');
  // Node reads headers as Latin-1: each character is one octet.
  if (key.length > MAX_KEY_OCTETS) {
    return badRequest(`the Idempotency-Key is longer than ${MAX_KEY_OCTETS} bytes`);
  }
  return key;
}

/** What a key that is narrowed may write is judged with the work: one narrowed otherwise sends another request. */
export function idempotentRequest(
  asked: { readonly method: string; readonly url: string; readonly segments: readonly Uint8Array[] },
  key: string,
  { account, key: { names, types } }: Pick<Caller, 'account' | 'key'>,
): IdempotentRequest {
  const hash = createHash('sha256');
  for (const octets of asked.segments) hash.update(octets);
  if (names !== null || types !== null) hash.update(JSON.stringify({ names, types }));
  return { accountId: account.id, key, method: asked.method, path: asked.url, bodyHash: hash.digest() };
}

/** The answer as it is kept: what made it is gone, so it is made whole here. */
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

const NOT_KEPT = 'this call was carried out; its answer is no longer kept';

/** The first answer where `remake` finds it again, or else that there was one: nothing else would be true. */
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

/** What this key got before, or that it was used for another request; undefined where it is free. */
export async function findReplay(db: Database, request: IdempotentRequest): Promise<RunOnce | undefined> {
  const once = await runOnce(db, request, async () => NOTHING); // a failure stores nothing
  return once.kind === 'response' && !once.replayed ? undefined : once;
}
