// Enqueues the job of a call, and derives the UUID by which the call finds the result. With an Idempotency-Key, the
// UUID is always the same, so that a repeated call finds the result of a call whose response was lost.

import { createHash, randomUUID } from 'node:crypto';
import type { Call, JobPort } from '../calls/call.ts';

type AnyCall = Call;

/** Returns true if the job is in the queue. Otherwise, logs the reason, and the client should retry. */
export async function enqueueNow<J>(
  queue: JobPort<J>,
  job: J,
  kind: 'check' | 'verification' | 'scan',
  { domain, log }: Pick<AnyCall, 'log'> & { readonly domain: { readonly id: number } },
): Promise<boolean> {
  try {
    await queue.enqueueNow(job);
    return true;
  } catch (error) {
    log.warn({ err: error, kind, domain_id: domain.id }, 'a job could not be put into its queue');
    return false;
  }
}

/** `kind` is part of the UUID, so that one key can be used for calls of several kinds. */
export function jobRequestOf(
  kind: string,
  {
    caller,
    domain,
    idempotencyKey,
  }: Pick<Call, 'caller' | 'idempotencyKey'> & {
    readonly domain: { readonly id: number };
  },
): string {
  if (idempotencyKey === undefined) return randomUUID();
  const about = JSON.stringify([kind, caller.account.id, domain.id, idempotencyKey]);
  const bytes = createHash('sha256').update(about).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80; // RFC 9562 §5.8: version 8
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
