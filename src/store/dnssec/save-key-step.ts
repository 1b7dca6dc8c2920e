// Saves the result of an observation by the key machine: its state, the next due time, and the step to take. If two
// observations run concurrently, the second finds a changed `seq` and saves nothing.

import { sql } from 'kysely';
import { type Advanced, written } from '../../checks/dnssec/advance.ts';
import type { Machine } from '../../checks/dnssec/machine.ts';
import { shownNow } from '../../checks/dnssec/parent-memory.ts';
import type { MachineRules } from '../../checks/dnssec/rules.ts';
import { isSameSet, isSigned, union } from '../../checks/dnssec/serving.ts';
import { dnssecStatus } from '../../checks/dnssec/told/dnssec-status.ts';
import type { Name } from '../../dns/name.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { findSignedZone, isWrittenSigned, type SignedZone, type StoredKey } from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { SigningPhase } from '../postgres/tables/schema.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { disableSigning } from '../signing/disable-signing.ts';
import { SMALL_ZONE_ROWS } from '../signing/enable-signing.ts';
import { type LockedSubject, lockSubject, REFRESH, writeSigning } from '../signing/write-signing.ts';
import type { KeyWork } from './dnssec-state.ts';

/** The state at the start of an observation. */
type ObservedState = Pick<KeyWork, 'domainId' | 'signed' | 'machine'>;

type SavedStep =
  /** If `isWhole` is false, the rest of the step is written in pieces. */
  | { readonly kind: 'saved'; readonly machine: Machine; readonly isWhole: boolean }
  /** Something else was saved in the meantime. The observation restarts. */
  | { readonly kind: 'conflict' };

interface LookOptions {
  readonly dueInMs: number;
  readonly rules: MachineRules;
  /** Time since which the owner has something to do, in milliseconds since 1970; null if nothing. */
  readonly wantedSince: number | null;
}

export async function saveKeyStep(
  db: Database,
  look: ObservedState,
  { machine, step }: Advanced,
  { dueInMs, rules, wantedSince }: LookOptions,
): Promise<SavedStep> {
  if (step === undefined) {
    const isSaved = await saveMachine(db, look, machine, { dueInMs, rules, wantedSince });
    return isSaved ? { kind: 'saved', machine, isWhole: true } : { kind: 'conflict' };
  }
  return await inTransaction<SavedStep>(db, async (trx) => {
    const locked = await lockUnchanged(trx, look);
    if (locked === undefined) return { kind: 'conflict' };
    const isWhole = await writeStep(trx, locked, look.machine, machine);
    const after = isWhole ? written(machine, await versionOf(trx, locked)) : machine;
    await saveMachine(trx, { signed: await currentOf(trx, look) }, after, { dueInMs: 0, rules, wantedSince });
    return { kind: 'saved', machine: after, isWhole };
  });
}

/** Saves that the last piece of a step is written. */
export async function saveWritten(
  db: Database,
  look: ObservedState,
  rules: MachineRules,
): Promise<'saved' | 'conflict'> {
  return await inTransaction<'saved' | 'conflict'>(db, async (trx) => {
    const locked = await lockUnchanged(trx, look);
    if (locked === undefined) return 'conflict';
    const after = written(look.machine, await versionOf(trx, locked));
    await saveMachine(trx, look, after, { dueInMs: 0, rules });
    return 'saved';
  });
}

async function lockUnchanged(
  trx: Database,
  { domainId, signed }: ObservedState,
): Promise<LockedSubject | undefined> {
  const locked = await lockSubject(trx, { domainId });
  return locked?.signed?.seq === signed.seq ? locked : undefined;
}

/** Returns the present version of the zone, or 0 without a zone, which no node can lack. */
async function versionOf(trx: Database, { zone }: LockedSubject): Promise<number> {
  if (zone === undefined) return 0;
  const { rows } = await sql<{ version: number }>`select version from zones where id = ${zone.id}`.execute(
    trx,
  );
  return (rows[0] as { version: number }).version;
}

/** Loads the zone as the step left it. */
async function currentOf(trx: Database, { signed: { id } }: ObservedState): Promise<SignedZone> {
  return (await findSignedZone(trx, sql`s.id = ${id}`)) as SignedZone;
}

/**
 * Returns false if another save came first. While signatures are added or removed, the phase stays; otherwise it
 * becomes the status that users see.
 */
async function saveMachine(
  db: Database,
  { signed: { id, seq } }: { readonly signed: SignedZone },
  machine: Machine,
  { dueInMs, rules, wantedSince }: Omit<LookOptions, 'wantedSince'> & Partial<LookOptions>,
): Promise<boolean> {
  const isLook = wantedSince !== undefined;
  const wanted = sql`to_timestamp(${(wantedSince ?? null) as number | null}::float8 / 1000)`;
  const { numAffectedRows } = await sql`
    update signed_zones set machine = ${JSON.stringify(machine)}, seq = seq + 1, status = ${dnssecStatus(machine, rules)},
      phase = case when phase in ('signing', 'unsigning', 'off') then phase else ${phaseOf(machine, rules)} end,
      had_ds = had_ds or ${shownNow(machine.parent, rules).some(({ ds }) => ds.length > 0)},
      ds_due = ds_due and not ${isLook}::boolean, wanted_since = case when ${isLook}::boolean then ${wanted} else wanted_since end,
      due_at = clock_timestamp() + make_interval(secs => ${dueInMs / 1000}::float8)
    where id = ${id} and seq = ${seq}`.execute(db);
  return numAffectedRows === 1n;
}

function phaseOf(machine: Machine, rules: MachineRules): SigningPhase {
  const status = dnssecStatus(machine, rules);
  switch (status) {
    case 'ds_wanted':
    case 'secure':
    case 'rolling':
    case 'ds_removal':
      return status;
    default:
      return 'waiting';
  }
}

const BY: ChangedBy = { by: { kind: 'system' }, source: 'status' };

/**
 * Writes a step of the key machine into its zone, under the lock of the domain: which keys are published and sign, and
 * the resulting records. `before` and `after` are the states around the step. Returns false if the zone is large and
 * the rest follows in pieces.
 */
async function writeStep(
  trx: Database,
  locked: LockedSubject,
  before: Machine,
  after: Machine,
): Promise<boolean> {
  const { id } = locked.signed as SignedZone;
  if (!isSigned(after.serving)) {
    await disableSigning(trx, locked.subject, BY);
    return true; // the apex is unsigned, so answers do not contain the remaining signatures
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

/**
 * Updates the keys' dates. A key that is published again counts as never removed. Removed keys are kept for a while
 * (destroyRetiredKeys).
 */
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
  // Foreign keys are also in CDS, because a parent that reads it deletes DS records not listed there (RFC 7344 §4.1).
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

/** Edits of the zone wait while a piece is signed. */
const PIECE_NAMES = 60;

/**
 * Re-signs a large zone in pieces, in the order of its names, after the keys that sign its data have changed.
 * Concurrent edits are already signed by the new keys. Resolvers accept both, because both are in the DNSKEY set. After
 * a crash it restarts and keeps what is signed. Rejects with the signal's reason if that aborts.
 */
export async function resignInPieces(db: Database, domainId: number, signal: AbortSignal): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    signal.throwIfAborted();
    const from: string = after;
    after = await inTransaction(db, (trx) => resignPiece(trx, domainId, from));
  }
}

/** Returns the last name of the piece, or undefined after the last piece or if the fleet no longer signs the zone. */
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
  await writeSigning(trx, locked, { signed, names }, REFRESH);
  return rows.length < PIECE_NAMES ? undefined : rows.at(-1)?.owner;
}

/** Returns true if a record set other than those of the keys lacks a signature of the data key, or has one of another key. */
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
