// Messages that were already carried out or refused. A repeated message gets the same rcode and changes nothing.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import { decodeChange, type UpdatedZone } from './queue.ts';

/** The result of a message. */
export interface UpdateOutcome {
  readonly rcode: number;
  /** Why the message was refused. */
  readonly message?: string;
  /** Undefined if nothing was changed. */
  readonly change: UpdatedZone | undefined;
}

/** A row of seen_updates as JSON. */
export interface SeenJson {
  readonly rcode: number;
  readonly message: string | null;
  readonly apex: string | null;
  readonly serial: number | null;
}

/** SQL expression: the message with this MAC as `SeenJson`, or null. */
export function seenUpdate(mac: Uint8Array) {
  return sql`(select jsonb_build_object('rcode', s.rcode, 'message', s.message, 'apex', s.apex, 'serial', s.serial)
    from seen_updates s where s.mac = ${Buffer.from(mac)})`;
}

/** Returns undefined if the message was not seen. */
export function decodeSeen(seen: SeenJson | null): UpdateOutcome | undefined {
  if (seen === null) return undefined;
  const { rcode, message, apex, serial } = seen;
  return { rcode, change: decodeChange(apex, serial), ...(message !== null && { message }) };
}

/** Records a message under the lock of its domain or zone. */
export async function recordSeen(
  trx: Database,
  mac: Uint8Array,
  { rcode, message, change }: UpdateOutcome,
): Promise<void> {
  await sql`
    insert into seen_updates (mac, rcode, message, apex, serial)
    values (${Buffer.from(mac)}, ${rcode}, ${message ?? null}, ${change === undefined ? null : encodeNameColumn(change.apex)},
      ${change?.serial ?? null})
    on conflict do nothing`.execute(trx);
}
