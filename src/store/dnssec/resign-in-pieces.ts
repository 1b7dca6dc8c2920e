// Signs a large zone anew whose data others keys sign from now on: piece by piece, in the order of its names. What is edited
// meanwhile is signed by those keys already, and resolvers accept both: they are in the DNSKEY set.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { StoredKey } from '../keys/signed-zone.ts';
import { isWrittenSigned } from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { lockSubject } from '../signing/lock-signed-zone.ts';
import { writeSigning } from '../signing/write-signing.ts';

/** While they are signed, edits of the zone wait. */
const PIECE_NAMES = 60;

/**
 * Killed at any time, it begins anew and keeps what it has signed. Rejects with the signal's reason when that aborts.
 */
export async function resignInPieces(db: Database, domainId: number, signal: AbortSignal): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    signal.throwIfAborted();
    const from: string = after;
    after = await inTransaction(db, (trx) => resignPiece(trx, domainId, from));
  }
}

/** The last name of the piece; undefined: it was the last piece, or nothing is signed here any more. */
async function resignPiece(trx: Database, domainId: number, after: string): Promise<string | undefined> {
  const locked = await lockSubject(trx, { domainId });
  const { zone, signed } = locked ?? {};
  if (locked === undefined || zone === undefined || zone.deleted || !isWrittenSigned(signed))
    return undefined;
  if (after === '' && !(await hasOthersSignatures(trx, zone.id, signed.keys))) return undefined;
  const { rows } = await sql<{ owner: string }>`
    select distinct owner from zone_records
    where zone_id = ${zone.id} and owner > ${after} and not removed and type not in (46, 50)
    order by owner limit ${PIECE_NAMES}`.execute(trx);
  if (rows.length === 0) return undefined;
  const names: Name[] = rows.map(({ owner }) => decodeNameColumn(owner));
  await writeSigning(trx, locked, { signed, names }, 'refresh');
  return rows.length < PIECE_NAMES ? undefined : rows.at(-1)?.owner;
}

/** Whether a set other than those of the keys themselves lacks a signature of a key that signs data, or has another key's. */
async function hasOthersSignatures(
  trx: Database,
  zoneId: number,
  keys: readonly StoredKey[],
): Promise<boolean> {
  const tags = keys.filter(({ signs }) => signs === 'data' || signs === 'both').map(({ tag }) => tag);
  if (tags.length !== 1) return true;
  const { rows } = await sql`
    select from zone_records
    where zone_id = ${zoneId} and type = 46 and not removed
      and get_byte(rdata, 0) * 256 + get_byte(rdata, 1) not in (48, 59, 60)
      and get_byte(rdata, 16) * 256 + get_byte(rdata, 17) <> ${tags[0]} limit 1`.execute(trx);
  return rows.length > 0;
}
