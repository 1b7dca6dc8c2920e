// Carries out a dynamic update of an operator zone under the lock of its row. It writes signatures, history and feed as
// `zone load` does.

import { sql } from 'kysely';
import { RCODE } from '../../dns/message/rcodes.ts';
import { refuseUpdate } from '../../dns/message/update.ts';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import { type EditedOwner, namesOfZoneEdit, planZoneEdit } from '../../zone/update/plan-zone-edit.ts';
import { runUpdate } from '../../zone/update/run-update.ts';
import { ownersOf } from '../../zone/update/sets-by-name.ts';
import { operatorZone } from '../../zone/update/updated-zone.ts';
import type { RecordSet } from '../../zone/zone.ts';
import { signChange } from '../keys/sign-change.ts';
import { isOfSigner, isWrittenSigned } from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { finish, type LockedSubject, lockSubject } from '../signing/write-signing.ts';
import type { LockedZone } from '../zones/write-zone.ts';
import { chunksOfOwners } from '../zones/zone-rows.ts';
import { isPast, TOO_LATE } from './deadline.ts';
import { decodeGrants, type GrantsJson, grantsOfKey } from './load-target.ts';
import {
  decodePublished,
  type PublishedJson,
  publishedAt,
  type SavedUpdate,
  type SignedUpdate,
} from './save-domain-update.ts';
import { decodeSeen, recordSeen, type SeenJson, seenUpdate } from './seen.ts';

/** Maximum number of DNAME records in an update. Each one requires a search in all names of the zone. */
const MOST_DNAMES = 10;

export async function saveZoneUpdate(db: Database, order: SignedUpdate): Promise<SavedUpdate> {
  const { update, mac } = order;
  return await inTransaction(db, async (trx): Promise<SavedUpdate> => {
    const locked = await lockSubject(trx, { zoneName: encodeNameColumn(update.zone) });
    if (locked === undefined) return refused(RCODE.NOTAUTH, 'the zone was unloaded');
    const { seen, isLate, isCopy, isCatalog, ...loaded } = await loadUnderLock(trx, locked, order);
    if (seen !== undefined) return { ...seen, records: 0 };
    if (isLate) return refused(TOO_LATE.rcode, TOO_LATE.message);
    if (isCopy) return refused(RCODE.REFUSED, 'the zone is copied from a primary: change it there');
    if (isCatalog) return refused(RCODE.REFUSED, 'the zone is a catalog of this fleet, which workers write');
    const zone = operatorZone(update.zone, loaded.records);
    const result = runUpdate(zone, update, loaded.grants);
    const saved =
      result.kind === 'refused'
        ? refused(result.rcode, result.message)
        : await saveSets(trx, locked, order, result.sets);
    await recordSeen(trx, mac, saved);
    return saved;
  });
}

function refused(rcode: number, message: string): SavedUpdate {
  return { rcode, message, change: undefined, records: 0 };
}

async function saveSets(
  trx: Database,
  locked: LockedSubject,
  { by }: SignedUpdate,
  sets: readonly RecordSet[],
): Promise<SavedUpdate> {
  const { apex, signed } = locked;
  const zone = locked.zone as LockedZone;
  const planned = await planSets(trx, locked, sets);
  if (planned.kind === 'refused') return refused(planned.rcode, planned.message);
  const { owners, serial } = planned;
  if (owners.length === 0) return { rcode: RCODE.NOERROR, change: undefined, records: 0 };
  const rows = signed === undefined ? owners : await signedRows(trx, locked, owners);
  await finish(trx, locked, serial, chunksOfOwners(zone, apex, rows), { by, source: 'update' });
  const records = owners.reduce((count, owner) => count + owner.records.length, 0);
  return { rcode: RCODE.NOERROR, change: { apex, serial }, records };
}

async function planSets(trx: Database, { apex, zone, signed }: LockedSubject, sets: readonly RecordSet[]) {
  const { id } = zone as LockedZone;
  const { at, dnamesAt, below } = namesOfZoneEdit(apex, sets);
  if (below.length > MOST_DNAMES)
    return refuseUpdate(RCODE.REFUSED, `an update may write at most ${MOST_DNAMES} DNAME records`);
  const { rows } = await sql<{ all: PublishedJson; dnames: PublishedJson }>`
    select ${publishedAt(id, at.map(encodeNameColumn))} as all,
      ${publishedAt(id, dnamesAt.map(encodeNameColumn), TYPE.DNAME)} as dnames`.execute(trx);
  const records = [...decodePublished(rows[0]?.all ?? null), ...decodePublished(rows[0]?.dnames ?? null)];
  const parents = await findParents(trx, id, below, at);
  return planZoneEdit({ apex, records, parents, isSignedHere: isWrittenSigned(signed) }, sets);
}

/** Types whose records do not make a name exist. */
const TYPES_WITHOUT_NAME: readonly number[] = [TYPE.RRSIG, TYPE.NSEC3];

/**
 * Returns the names that have names below them, not counting those in `except`. A dot separates labels if the number of
 * backslashes before it is even.
 */
async function findParents(
  trx: Database,
  zoneId: number,
  names: readonly Name[],
  except: readonly Name[],
): Promise<ReadonlySet<Name>> {
  if (names.length === 0) return new Set();
  const { rows } = await sql<{ name: string }>`
    select n.name from unnest(${names.map(encodeNameColumn)}::text[]) n (name), concat('.', ltrim(n.name, '.')) suffix
    where exists (select from zone_records r, left(r.owner, -length(suffix)) above
      where r.zone_id = ${zoneId} and not r.removed
      and right(r.owner, length(suffix)) = suffix
      and (length(above) - length(rtrim(above, '\\'))) % 2 = 0
      and r.type <> all(${TYPES_WITHOUT_NAME}::integer[])
      and r.owner <> all(${except.map(encodeNameColumn)}::text[]))`.execute(trx);
  return new Set(rows.map(({ name }) => decodeNameColumn(name)));
}

/**
 * Returns all rows of these owners. If the zone is answered as signed, the rows include signatures and denials. While the
 * zone is being signed, the signer adds them.
 */
async function signedRows(
  trx: Database,
  { apex, zone, signed, now }: LockedSubject,
  owners: readonly EditedOwner[],
): Promise<OwnerRows[]> {
  const own = owners.map(({ owner, all }) => ({
    owner,
    records: all.filter((record) => !isOfSigner(apex, record)),
  }));
  if (!isWrittenSigned(signed)) return own;
  const wanted = new Map(own.map(({ owner, records }) => [owner, records]));
  return await signChange(trx, { zoneId: (zone as LockedZone).id, apex, signed, now, wanted });
}

interface LoadedRow {
  readonly seen: SeenJson | null;
  readonly isLate: boolean;
  readonly isCopy: boolean;
  readonly isCatalog: boolean;
  readonly grants: GrantsJson;
  readonly records: PublishedJson;
}

async function loadUnderLock(trx: Database, { zone }: LockedSubject, order: SignedUpdate) {
  const { update, keyId, mac, deadline } = order;
  const { id: zoneId, name } = zone as LockedZone;
  const names = ownersOf(update).map(encodeNameColumn);
  const { rows } = await sql<LoadedRow>`
    select ${seenUpdate(mac)} as seen, ${isPast(deadline)} as "isLate",
      ${grantsOfKey(keyId, { zoneId })} as grants,
      exists (select from secondaries c where c.zone_name = ${name}) as "isCopy",
      exists (select from catalogs c where c.name = ${name}) as "isCatalog",
      ${publishedAt(zoneId, names)} as records`.execute(trx);
  const [{ seen, isLate, isCopy, isCatalog, grants, records }] = rows as [LoadedRow];
  return {
    seen: decodeSeen(seen),
    isLate,
    isCopy,
    isCatalog,
    grants: decodeGrants(grants),
    records: decodePublished(records),
  };
}
