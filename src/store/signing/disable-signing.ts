// Removes the signatures of a zone. The apex comes first, so that the zone is answered as unsigned from then on. The
// rest of a large zone follows in pieces.

import { sql } from 'kysely';
import { TYPE } from '../../dns/type-codes.ts';
import { withSerial } from '../../zone/serial.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { forgetNames } from '../keys/hashed-names.ts';
import { readOwners } from '../keys/read-zone-rows.ts';
import { noteSignatures } from '../keys/sign-change.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';
import type { LockedZone } from '../zones/write-zone.ts';
import { type Chunk, chunksOfOwners } from '../zones/zone-rows.ts';
import { SMALL_ZONE_ROWS } from './enable-signing.ts';
import {
  finish,
  type LockedSubject,
  lockSubject,
  nextSerialOf,
  type Subject,
  subjectOf,
  writeOwners,
} from './write-signing.ts';

/** `unsigning` is a large zone of which pieces must still be removed. */
type Disabled = 'unsigned' | 'unsigning' | 'unchanged';

const EVERYWHERE = [TYPE.RRSIG, TYPE.NSEC, TYPE.NSEC3] as const;
const AT_APEX = [TYPE.SOA, TYPE.DNSKEY, TYPE.CDS, TYPE.CDNSKEY, TYPE.NSEC3PARAM] as const;
const PIECE_OWNERS = 100;
const PIECE_NAMES = 2000;

/** Disables signing immediately. The caller must know that the parent has no DS record, or that it does not matter. */
export async function disableSigning(db: Database, subject: Subject, by: ChangedBy): Promise<Disabled> {
  return await inTransaction(db, async (trx) => {
    const locked = await lockSubject(trx, subject);
    const { signed, zone } = locked ?? {};
    if (locked === undefined || signed === undefined || signed.phase === 'off') return 'unchanged';
    if (signed.phase === 'unsigning') return 'unsigning';
    const isServed = zone !== undefined && !zone.deleted;
    const isLarge = isServed && zone.records > 2 * SMALL_ZONE_ROWS;
    const phase = isLarge ? 'unsigning' : 'off';
    await sql`
      update signed_zones set goal = 'unsigned', phase = ${phase}, seq = seq + 1, cds_delete = false, had_ds = false,
        due_at = null, denial_change = null
      where id = ${signed.id}`.execute(trx);
    await sql`
      update signing_keys set retired_at = clock_timestamp(), signs = 'none', in_cds = false
      where signed_zone_id = ${signed.id} and retired_at is null`.execute(trx);
    await noteSignatures(trx, signed.id, null);
    if (isServed) await writeUnsigned(trx, locked, isLarge, by);
    if (isServed && !isLarge) await forgetNames(trx, zone.id, 2 * SMALL_ZONE_ROWS);
    return isLarge ? 'unsigning' : 'unsigned';
  });
}

async function writeUnsigned(
  trx: Database,
  locked: LockedSubject,
  isLarge: boolean,
  by: ChangedBy,
): Promise<void> {
  const { apex } = locked;
  const zone = locked.zone as LockedZone;
  const rows = await readOwners(trx, zone.id, [apex]);
  const serial = nextSerialOf(locked, rows);
  const soa = rows.find(({ type }) => type === TYPE.SOA) as ZoneRecord;
  const records = [{ ...soa, rdata: withSerial(soa.rdata, serial) }];
  const [chunk] = chunksOfOwners(zone, apex, [
    { owner: apex, types: AT_APEX, records },
    { owner: apex, types: EVERYWHERE, records: [] },
  ]) as Iterable<Chunk>;
  const all = { zoneId: zone.id, version: zone.nextVersion, first: '', end: null, types: EVERYWHERE };
  const { slices } = chunk as Chunk;
  const concerned = isLarge ? slices : [...slices.slice(0, 1), all];
  await finish(trx, locked, serial, [{ ...(chunk as Chunk), slices: concerned }], by);
}

/** Removes the remaining signatures of a zone whose apex is unsigned. If killed, the next call continues. */
export async function unsignInPieces(db: Database, signedZoneId: number, signal: AbortSignal): Promise<void> {
  const subject = await subjectOf(db, signedZoneId);
  if (subject === undefined) return;
  for (let after: string | undefined = ''; after !== undefined; ) {
    signal.throwIfAborted();
    const from: string = after;
    after = await inTransaction(db, (trx) => takePiece(trx, subject, from));
  }
}

/** Returns the last owner of the piece, an empty text to restart from the beginning, or undefined if nothing is left. */
async function takePiece(trx: Database, subject: Subject, after: string): Promise<string | undefined> {
  const locked = await lockSubject(trx, subject);
  if (locked?.signed?.phase !== 'unsigning') return undefined;
  const { zone, signed } = locked;
  const owners = zone === undefined || zone.deleted ? [] : await nextOwners(trx, zone.id, after);
  const last = owners.at(-1);
  if (last === undefined) {
    if (after !== '') return '';
    if (zone !== undefined && (await forgetNames(trx, zone.id, PIECE_NAMES)) > 0) return '';
    await sql`update signed_zones set phase = 'off', seq = seq + 1 where id = ${signed.id}`.execute(trx);
    return undefined;
  }
  const without = owners.map((owner) => ({ owner: decodeNameColumn(owner), types: EVERYWHERE, records: [] }));
  await writeOwners(trx, locked, without);
  return last;
}

async function nextOwners(trx: Database, zoneId: number, after: string): Promise<string[]> {
  const { rows } = await sql<{ owner: string }>`
    select distinct owner from zone_records
    where zone_id = ${zoneId} and owner > ${after} and not removed and type in (46, 47, 50)
    order by owner limit ${PIECE_OWNERS}`.execute(trx);
  return rows.map(({ owner }) => owner);
}
