// Writes a step of the key machine into its zone, under the lock of the domain: which keys are shown and sign, and the records
// that follow from it.

import { sql } from 'kysely';
import type { Machine } from '../../checks/dnssec/machine.ts';
import { isSameSet, isSigned, union } from '../../checks/dnssec/serving.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { findSignedZone, type SignedZone } from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import type { SigningPhase } from '../postgres/tables/schema.ts';
import { disableSigning } from '../signing/disable-signing.ts';
import { SMALL_ZONE_ROWS } from '../signing/enable-signing.ts';
import type { LockedSubject } from '../signing/lock-signed-zone.ts';
import { writeSigning } from '../signing/write-signing.ts';

const BY: ChangedBy = { by: { kind: 'system' }, source: 'status' };

/** `before` and `after` the step. True: the zone has all of it; false: it is large, and the rest follows in pieces. */
export async function writeStep(
  trx: Database,
  locked: LockedSubject,
  before: Machine,
  after: Machine,
): Promise<boolean> {
  const { id } = locked.signed as SignedZone;
  if (!isSigned(after.serving)) {
    await disableSigning(trx, locked.subject, BY);
    return true; // the apex is unsigned: what is left below it is no part of any answer
  }
  await setKeys(trx, id, after);
  const { zone } = locked;
  const isServed = zone !== undefined && !zone.deleted;
  if (!isSigned(before.serving)) {
    const isLarge = isServed && zone.records > SMALL_ZONE_ROWS;
    await setPhase(trx, id, isLarge ? 'signing' : 'waiting');
    if (isServed && !isLarge) await writeNames(trx, locked, 'whole');
    return !isLarge;
  }
  const isSameSigner = isSameSet(before.serving.dataSigners, after.serving.dataSigners);
  const isLarge = isServed && !isSameSigner && zone.records > 2 * SMALL_ZONE_ROWS;
  if (isServed) await writeNames(trx, locked, isSameSigner || isLarge ? [] : 'whole');
  return !isLarge;
}

async function writeNames(trx: Database, locked: LockedSubject, names: readonly [] | 'whole'): Promise<void> {
  const { id } = locked.signed as SignedZone;
  const signed = (await findSignedZone(trx, sql`s.id = ${id}`)) as SignedZone;
  await writeSigning(trx, locked, { signed, names }, BY);
}

async function setPhase(trx: Database, signedZoneId: number, phase: SigningPhase): Promise<void> {
  await sql`update signed_zones set phase = ${phase} where id = ${signedZoneId}`.execute(trx);
}

/** A key that comes back is as if it had never gone; one that goes is kept for a while (destroyRetiredKeys). */
async function setKeys(
  trx: Database,
  signedZoneId: number,
  { serving, asked, goal }: Machine,
): Promise<void> {
  const ids = (list: readonly string[]) => sql`any(${list.map(Number)}::bigint[])`;
  const { keys, keySigners, dataSigners } = serving;
  const used = union(keys, dataSigners);
  await sql`
    update signing_keys set
      published_at = case when id = ${ids(keys)} then case when retired_at is null then coalesce(published_at, clock_timestamp())
        else clock_timestamp() end when retired_at is null and not id = ${ids(used)} then published_at
        when id = ${ids(used)} then null else published_at end,
      retired_at = case when id = ${ids(used)} then null
        when published_at is not null or signs <> 'none' then coalesce(retired_at, clock_timestamp()) else retired_at end,
      signs = case when id = ${ids(keySigners)} and id = ${ids(dataSigners)} then 'both'
        when id = ${ids(keySigners)} then 'keys' when id = ${ids(dataSigners)} then 'data' else 'none' end,
      in_cds = id = ${ids(asked)}
    where signed_zone_id = ${signedZoneId} and origin = 'ours'`.execute(trx);
  // in CDS beside ours: a parent that reads them keeps no DS that is not there (RFC 7344 §4.1)
  await sql`
    update signing_keys set
      published_at = case when id = ${ids(keys)} and retired_at is null then coalesce(published_at, clock_timestamp())
        when id = ${ids(keys)} then clock_timestamp() else published_at end,
      retired_at = case when id = ${ids(keys)} then null
        when published_at is not null then coalesce(retired_at, clock_timestamp()) else retired_at end,
      in_cds = id = ${ids(asked.filter((id) => keys.includes(id)))}
    where signed_zone_id = ${signedZoneId} and origin = 'foreign'`.execute(trx);
  await sql`
    update signed_zones set cds_delete = ${goal === 'unsigned'} and ${asked.length === 0}
    where id = ${signedZoneId}`.execute(trx);
}
