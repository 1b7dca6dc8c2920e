// Reports of nodes about zone transfers: what each peer was sent and has taken, which keys were used, and which primaries
// have sent NOTIFY.

import { type Name, printName } from '../../dns/name.ts';
import type { Connection } from '../postgres/connection.ts';

/** `soa`: the peer got only the SOA, because it is current or must use TCP. */
export type TransferForm = 'axfr' | 'ixfr' | 'soa';

/** Events since the last report. Except in `ackedAt` and `error`, null means that there was none. */
export interface TransferReport {
  readonly zoneId: number;
  readonly peerId: number;
  readonly notifiedSerial: number | null;
  /** When the peer answered that NOTIFY; null if it has not. */
  readonly ackedAt: Date | null;
  readonly servedSerial: number | null;
  readonly servedAt: Date | null;
  readonly form: TransferForm | null;
  /** Why the last NOTIFY or transfer failed; null if it did not. */
  readonly error: string | null;
}

/** Rows per statement. */
const BATCH = 5000;

/** Writes the reports of a node, at most one per zone and peer. Skips zones and peers that were deleted meanwhile. */
export async function reportTransfers(
  connection: Connection,
  node: string,
  reports: readonly TransferReport[],
): Promise<void> {
  for (let at = 0; at < reports.length; at += BATCH) {
    const batch = reports.slice(at, at + BATCH);
    await connection.query(
      `insert into transfer_reports as t
         (zone_id, peer_id, node, notified_serial, acked_at, served_serial, served_at, form, error)
       select r.zone_id, r.peer_id, $1, r.notified_serial, r.acked_at, r.served_serial, r.served_at, r.form, r.error
       from unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::timestamptz[], $6::bigint[], $7::timestamptz[],
         $8::text[], $9::text[])
         as r(zone_id, peer_id, notified_serial, acked_at, served_serial, served_at, form, error)
       join zones z on z.id = r.zone_id join peers p on p.id = r.peer_id
       on conflict (zone_id, peer_id, node) do update set
         notified_serial = coalesce(excluded.notified_serial, t.notified_serial),
         acked_at = case when excluded.notified_serial is null then t.acked_at else excluded.acked_at end,
         served_serial = coalesce(excluded.served_serial, t.served_serial),
         served_at = coalesce(excluded.served_at, t.served_at),
         form = coalesce(excluded.form, t.form),
         error = excluded.error,
         reported_at = clock_timestamp()`,
      [
        node,
        batch.map(({ zoneId }) => zoneId),
        batch.map(({ peerId }) => peerId),
        batch.map(({ notifiedSerial }) => notifiedSerial),
        batch.map(({ ackedAt }) => ackedAt),
        batch.map(({ servedSerial }) => servedSerial),
        batch.map(({ servedAt }) => servedAt),
        batch.map(({ form }) => form),
        batch.map(({ error }) => error),
      ],
    );
  }
}

/** Records that these keys were used, at most once per minute. */
export async function reportKeyUse(connection: Connection, keyIds: readonly number[]): Promise<void> {
  if (keyIds.length === 0) return;
  await connection.query(
    `update tsig_keys set last_used_at = now() where id = any($1::bigint[])
     and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
    [keyIds],
  );
}

/** Maximum number of rows of received_notifies. */
const SLOTS = 4096;
/** Slots that are tried for a zone, so that other zones rarely have all of them. */
const TRIED_SLOTS = 8;

/**
 * Records that a primary of this zone has sent NOTIFY. If another serial is recorded and no worker has taken it yet, it
 * is replaced by null, because it may be older.
 */
export async function noteNotify(connection: Connection, name: Name, serial: number | null): Promise<void> {
  await connection.query(
    `with tried as (
       select ((hashtextextended($1::text, 0) & ${SLOTS - 1})::int + n) % ${SLOTS} as slot
       from generate_series(0, ${TRIED_SLOTS - 1}) as n),
     taken as (select slot, zone from received_notifies where slot in (select slot from tried))
     insert into received_notifies as r (slot, zone, serial)
     select slot, $1::text, $2::bigint from tried
     where slot not in (select slot from taken where zone <> $1::text)
     order by slot not in (select slot from taken) limit 1
     on conflict (slot) do update set serial = null where r.zone = excluded.zone and r.serial <> excluded.serial`,
    [printName(name), serial],
  );
}
