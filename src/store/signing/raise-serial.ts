// Raises the serial of a zone without another change, so that secondaries transfer it again. After the database was
// restored from a backup, they may have a newer serial than the fleet.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { isNewer, serialIn, timedSerial } from '../../zone/serial.ts';
import { readOwners } from '../keys/read-zone-rows.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { KEEPS_HISTORY } from '../zones/write-zone.ts';
import { lockSubject, type Subject, writeOwners } from './write-signing.ts';

export type RaisedSerial =
  | { readonly outcome: 'raised'; readonly from: number; readonly to: number }
  | { readonly outcome: 'absent' }
  /** `to` is not newer than the present serial (RFC 1982 §3.2). */
  | { readonly outcome: 'not_newer'; readonly from: number };

/** @param to the new serial; undefined for the time in seconds if that is newer, else the next one */
export async function raiseSerial(db: Database, apex: Name, to: number | undefined): Promise<RaisedSerial> {
  return await inTransaction<RaisedSerial>(db, async (trx) => {
    const subject = await findSubject(trx, encodeNameColumn(apex));
    const locked = subject && (await lockSubject(trx, subject));
    if (locked?.zone === undefined || locked.zone.deleted) return { outcome: 'absent' };
    const from = await serialOf(trx, locked.zone.id, apex);
    const next = to ?? timedSerial(from, locked.now);
    if (!isNewer(next, from)) return { outcome: 'not_newer', from };
    await writeOwners(trx, locked, [], { serial: next });
    return { outcome: 'raised', from, to: next };
  });
}

async function serialOf(trx: Database, zoneId: number, apex: Name): Promise<number> {
  const rows = await readOwners(trx, zoneId, [apex]);
  return serialIn((rows.find(({ type }) => type === TYPE.SOA) as (typeof rows)[0]).rdata);
}

async function findSubject(trx: Database, name: string): Promise<Subject | undefined> {
  const { rows } = await sql<{ kind: string; domainId: number | null }>`
    select z.kind, d.id as "domainId" from zones z left join domains d on d.zone_id = z.id
    where z.name = ${name} and z.deleted_at is null`.execute(trx);
  const [row] = rows;
  if (row === undefined) return undefined;
  return row.domainId === null ? { zoneName: name } : { domainId: row.domainId };
}

/** Returns the names of all zones that keep history, because a peer may transfer them, after a name. */
export async function zonesWithPeers(db: Database, after: Name | undefined, limit: number): Promise<Name[]> {
  const { rows } = await sql<{ name: string }>`
    select name from zones
    where name > ${after === undefined ? '' : encodeNameColumn(after)} and deleted_at is null and ${KEEPS_HISTORY}
    order by name limit ${limit}`.execute(db);
  return rows.map(({ name }) => decodeNameColumn(name));
}
