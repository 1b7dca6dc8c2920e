// Messages that were already carried out or refused. A repeated message gets the same rcode and changes nothing.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import { decodeChange, type UpdatedZone } from './queue.ts';

/** The result of a message. */
export interface UpdateOutcome {
  readonly rcode: number;
  /** Undefined if nothing was changed. */
  readonly change: UpdatedZone | undefined;
}

/** A row of seen_updates as JSON. */
export interface SeenJson {
  readonly rcode: number;
  readonly apex: string | null;
  readonly serial: number | null;
}

/** SQL expression: the message with this MAC as `SeenJson`, or null. */
export function seenUpdate(mac: Uint8Array) {
  return sql`(select jsonb_build_object('rcode', s.rcode, 'apex', s.apex, 'serial', s.serial)
    from seen_updates s where s.mac = ${Buffer.from(mac)})`;
}

/** Returns undefined if the message was not seen. */
export function decodeSeen(seen: SeenJson | null): UpdateOutcome | undefined {
  return seen === null ? undefined : { rcode: seen.rcode, change: decodeChange(seen.apex, seen.serial) };
}

/** Records a message under the lock of its domain or zone. */
export async function recordSeen(
  trx: Database,
  mac: Uint8Array,
  { rcode, change }: UpdateOutcome,
): Promise<void> {
  await sql`
    insert into seen_updates (mac, rcode, apex, serial)
    values (${Buffer.from(mac)}, ${rcode}, ${change === undefined ? null : encodeNameColumn(change.apex)},
      ${change?.serial ?? null})
    on conflict do nothing`.execute(trx);
}
