// The UUID by which a call finds the result that a worker made for it. With an Idempotency-Key it is always the same: a
// repeat finds the result of a call that never got its answer.

import { createHash, randomUUID } from 'node:crypto';
import type { Call } from '../calls/call.ts';

/** `kind`: the kind of the call, so that one key serves for calls of several kinds. */
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
