// Raises the serial of a zone without another change, so that secondaries transfer it again. After the database was
// restored from a backup, they may have a newer serial than the fleet.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { isNewer, serialIn, timedSerial } from '../../zone/serial.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { readOwners } from '../keys/read-zone-rows.ts';
import { isWrittenSigned } from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { KEEPS_HISTORY } from '../zones/write-zone.ts';
import { isOfSoa, lockSubject, type Subject, writeOwners } from './write-signing.ts';

export type RaisedSerial =
  | { readonly outcome: 'raised'; readonly from: number; readonly to: number }
  | { readonly outcome: 'absent' }
  /** The zone is copied from a primary, which chooses its serials. */
  | { readonly outcome: 'copy' }
  /** Another signer has signed the SOA. */
  | { readonly outcome: 'signed_elsewhere' }
  /** `to` is not newer than the present serial (RFC 1982 §3.2). */
  | { readonly outcome: 'not_newer'; readonly from: number };

/** @param to the new serial; undefined for the time in seconds if that is newer, else the next one */
export async function raiseSerial(db: Database, apex: Name, to: number | undefined): Promise<RaisedSerial> {
  return await inTransaction<RaisedSerial>(db, async (trx) => {
    const found = await findSubject(trx, encodeNameColumn(apex));
    if (found?.isCopy) return { outcome: 'copy' };
    const locked = found && (await lockSubject(trx, found.subject));
    if (locked?.zone === undefined || locked.zone.deleted) return { outcome: 'absent' };
    const ofSoa = (await readOwners(trx, locked.zone.id, [apex])).filter(isOfSoa);
    if (ofSoa.length > 1 && !isWrittenSigned(locked.signed)) return { outcome: 'signed_elsewhere' };
    const from = serialIn((ofSoa.find(({ type }) => type === TYPE.SOA) as ZoneRecord).rdata);
    const next = to ?? timedSerial(from, locked.now);
    if (!isNewer(next, from)) return { outcome: 'not_newer', from };
    await writeOwners(trx, locked, [], { serial: next });
    return { outcome: 'raised', from, to: next };
  });
}

async function findSubject(
  trx: Database,
  name: string,
): Promise<{ readonly subject: Subject; readonly isCopy: boolean } | undefined> {
  const { rows } = await sql<{ domainId: number | null; isCopy: boolean }>`
    select d.id as "domainId", ${IS_COPY} as "isCopy" from zones z left join domains d on d.zone_id = z.id
    where z.name = ${name} and z.deleted_at is null`.execute(trx);
  const [row] = rows;
  if (row === undefined) return undefined;
  const subject = row.domainId === null ? { zoneName: name } : { domainId: row.domainId };
  return { subject, isCopy: row.isCopy };
}

/** Condition of `zones z left join domains d` for a zone that is copied from a primary. */
const IS_COPY = sql`exists (select from secondaries s where s.zone_name = z.name or s.domain_id = d.id)`;

/** Returns the names of all zones that keep history, because a peer may transfer them, after a name. */
export async function zonesWithPeers(db: Database, after: Name | undefined, limit: number): Promise<Name[]> {
  const { rows } = await sql<{ name: string }>`
    select z.name from (select * from zones where ${KEEPS_HISTORY}) z left join domains d on d.zone_id = z.id
    where z.name > ${after === undefined ? '' : encodeNameColumn(after)} and z.deleted_at is null and not ${IS_COPY}
    order by z.name limit ${limit}`.execute(db);
  return rows.map(({ name }) => decodeNameColumn(name));
}
