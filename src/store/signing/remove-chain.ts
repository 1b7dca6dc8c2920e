// Takes the denials of the kind that a signed zone uses no more away, in pieces: no answer shows any of them.

import { sql } from 'kysely';
import { readSignature } from '../../dns/dnssec/signed-octets.ts';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { denialType } from '../../zone/signing/denial-records.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import { recordsByOwner } from '../../zone/signing/standing.ts';
import { forgetNames } from '../keys/hashed-names.ts';
import { readOwners } from '../keys/read-zone-rows.ts';
import { otherDenial } from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';
import type { LockedZone } from '../zones/write-zone.ts';
import { setDenial } from './change-denial.ts';
import { lockSubject, type Subject, subjectOf } from './lock-signed-zone.ts';
import { writeOwners } from './write-signing.ts';

const PIECE_OWNERS = 250;
const PIECE_NAMES = 5000;

/** Killed at any time, it goes on when it is called again. Rejects with the signal's reason when that aborts. */
export async function removeChain(db: Database, signedZoneId: number, signal: AbortSignal): Promise<void> {
  const subject = await subjectOf(db, signedZoneId);
  if (subject === undefined) return;
  for (let isMore = true; isMore; ) {
    signal.throwIfAborted();
    isMore = await inTransaction(db, (trx) => removePiece(trx, subject));
  }
}

async function removePiece(trx: Database, subject: Subject): Promise<boolean> {
  const locked = await lockSubject(trx, subject);
  if (locked?.signed?.denialChange !== 'removing') return false;
  const { zone, signed } = locked;
  const type = denialType(otherDenial(signed.denial));
  const owners = zone === undefined || zone.deleted ? [] : await nextOwners(trx, zone.id, type);
  if (owners.length === 0) {
    const isHashed = signed.denial === 'nsec3';
    if (!isHashed && zone !== undefined && (await forgetNames(trx, zone.id, PIECE_NAMES)) > 0) return true;
    await setDenial(trx, signed.id, signed.denial, null);
    return false;
  }
  const rows = recordsByOwner(await readOwners(trx, (zone as LockedZone).id, owners));
  const left = [...rows].map(([owner, records]): OwnerRows => {
    const stays = records.filter(
      (one) => one.type === TYPE.RRSIG && readSignature(one.rdata).typeCovered !== type,
    );
    return { owner, types: [TYPE.RRSIG, type], records: stays };
  });
  await writeOwners(trx, locked, left, 'refresh');
  return true;
}

async function nextOwners(trx: Database, zoneId: number, type: number): Promise<Name[]> {
  const { rows } = await sql<{ owner: string }>`
    select distinct owner from (
      select owner from zone_records
      where zone_id = ${zoneId} and type = ${type} and place is not null and not removed
      order by place limit ${PIECE_OWNERS}) next`.execute(trx);
  return rows.map(({ owner }) => decodeNameColumn(owner));
}
