// Changes the proof of nonexistence of a signed zone between NSEC and NSEC3. A small zone gets the other chain in one
// transaction; a large one gets it in pieces, in addition to the present chain (denial-chains.ts). To abort the change,
// the owner requests the earlier kind.

import { sql } from 'kysely';
import { hasRoomForHashes } from '../../zone/signing/denial-records.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { isGone } from '../change/lock-domain.ts';
import { nextVersion, writeLog } from '../change/write-domain-change.ts';
import { forgetNames } from '../keys/hashed-names.ts';
import {
  DnssecUnavailable,
  findSignedZone,
  isWrittenSigned,
  type SignedZone,
  wantedDenial,
} from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import type { DenialChange, DenialKind } from '../postgres/tables/schema.ts';
import { inTransaction } from '../postgres/transaction.ts';
import type { LockedZone } from '../zones/write-zone.ts';
import { findUnableNodes, NO_ROOM_FOR_HASHES, SMALL_ZONE_ROWS } from './enable-signing.ts';
import { type LockedSubject, lockSubject, type Subject, writeSigning } from './write-signing.ts';

interface DenialOrder extends ChangedBy {
  readonly denial: DenialKind;
  /** See `saveEdit`. */
  readonly ownerId?: number;
}

export type ChangedDenial =
  /** `changeId` is undefined if the denial was already wanted. `inPieces` is the id of a signed zone whose work continues. */
  | { readonly kind: 'updated'; readonly changeId?: number; readonly inPieces?: number }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'refused';
      readonly code: 'wrong_state' | 'dnssec_busy' | 'dnssec_unavailable';
      readonly message: string;
      readonly retryAfterSeconds?: number;
    };

/** Nodes may have been upgraded or have free space by then. */
const RETRY_SECONDS = 600;

export async function changeDenial(
  db: Database,
  subject: Subject,
  order: DenialOrder,
): Promise<ChangedDenial> {
  try {
    return await inTransaction<ChangedDenial>(db, async (trx) => {
      const locked = await lockSubject(trx, subject);
      if (locked === undefined || (locked.domain !== undefined && isGone(locked.domain, order)))
        return { kind: 'absent' };
      return (await refuse(trx, locked, order)) ?? (await change(trx, locked, order));
    });
  } catch (error) {
    if (error instanceof DnssecUnavailable) return refused('dnssec_unavailable', error.message);
    throw error;
  }
}

type Refused = Extract<ChangedDenial, { kind: 'refused' }>;

function refused(code: Refused['code'], message: string): Refused {
  const retry = code === 'dnssec_unavailable' ? { retryAfterSeconds: RETRY_SECONDS } : {};
  return { kind: 'refused', code, message, ...retry };
}

async function refuse(
  trx: Database,
  { apex, signed }: LockedSubject,
  { denial }: DenialOrder,
): Promise<Refused | undefined> {
  const isSigned = signed !== undefined && (signed.goal === 'signed' || isWrittenSigned(signed));
  if (!isSigned) return refused('wrong_state', 'the zone is not signed');
  if (signed.phase === 'signing' && denial !== signed.denial)
    return refused('dnssec_busy', 'the zone is being signed: try again when that is done');
  if (denial === 'nsec3' && !hasRoomForHashes(apex)) return refused('wrong_state', NO_ROOM_FOR_HASHES);
  if (denial === wantedDenial(signed) || denial === signed.denial) return undefined;
  const unable = await findUnableNodes(trx); // the zone temporarily has both chains
  return unable === undefined ? undefined : refused('dnssec_unavailable', unable);
}

async function change(
  trx: Database,
  locked: LockedSubject,
  { denial, by, source }: DenialOrder,
): Promise<ChangedDenial> {
  const { zone, domain } = locked;
  const before = locked.signed as SignedZone;
  const { id } = before;
  if (denial === wantedDenial(before))
    return { kind: 'updated', ...(before.denialChange !== null && { inPieces: id }) };
  const changeId = zone?.nextVersion ?? (await nextVersion(trx));
  const isServed = zone !== undefined && !zone.deleted && isWrittenSigned(before);
  const isBack = denial === before.denial;
  const isInPieces = isBack || (isServed && !(await isWritable(trx, before, zone)));
  if (isInPieces) await setDenial(trx, id, before.denial, isBack ? 'removing' : 'adding');
  else await setDenial(trx, id, denial, null);
  if (isServed && !isInPieces) {
    const signed = (await findSignedZone(trx, sql`s.id = ${id}`)) as SignedZone;
    await writeSigning(trx, locked, { signed, names: 'whole' }, { by, source });
    if (denial === 'nsec') await forgetNames(trx, zone.id, 2 * SMALL_ZONE_ROWS);
  } else if (domain !== undefined) {
    const { serial } = domain.row;
    await writeLog(trx, domain, { by, source, operation: 'dnssec' }, { changeId, serial });
  }
  return { kind: 'updated', changeId, ...(isInPieces && { inPieces: id }) };
}

/** Returns true if one transaction can do it: the zone is small, and no step of its keys is being written. */
async function isWritable(trx: Database, { id }: SignedZone, zone: LockedZone): Promise<boolean> {
  if (zone.records > 2 * SMALL_ZONE_ROWS) return false;
  const { rows } = await sql`
    select from signed_zones where id = ${id} and machine -> 'version' = 'null'`.execute(trx);
  return rows.length === 0;
}

/** Increments `seq`, so that running observations of the zone's keys restart. */
export async function setDenial(
  trx: Database,
  signedZoneId: number,
  denial: DenialKind,
  change: DenialChange | null,
): Promise<void> {
  await sql`
    update signed_zones set denial = ${denial}, denial_change = ${change}, seq = seq + 1
    where id = ${signedZoneId}`.execute(trx);
}
