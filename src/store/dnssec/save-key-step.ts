// Saves the result of an observation by the key machine: its state, the next due time, and the step to take. If two
// observations run concurrently, the second finds a changed `seq` and saves nothing.

import { type RawBuilder, sql } from 'kysely';
import { type Advanced, written } from '../../checks/dnssec/advance.ts';
import type { Machine } from '../../checks/dnssec/machine.ts';
import { shownNow } from '../../checks/dnssec/parent-memory.ts';
import type { MachineRules } from '../../checks/dnssec/rules.ts';
import { isSameSet, isSigned, union } from '../../checks/dnssec/serving.ts';
import { dnssecStatus } from '../../checks/dnssec/told/dnssec-status.ts';
import type { Name } from '../../dns/name.ts';
import { dueAt, signatureTimes } from '../../zone/signing/validity.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { openKeys } from '../keys/key-store.ts';
import { readWhole } from '../keys/read-zone-rows.ts';
import {
  decodeSignedZone,
  isWrittenSigned,
  type SignedZone,
  type SignedZoneJson,
  type StoredKey,
  signedZoneJson,
} from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { inOneTrip } from '../postgres/pool-driver.ts';
import type { SigningPhase } from '../postgres/tables/schema.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { disableSigning } from '../signing/disable-signing.ts';
import { SMALL_ZONE_ROWS } from '../signing/enable-signing.ts';
import { type LockedSubject, lockSubject, REFRESH, writeSigning } from '../signing/write-signing.ts';
import type { LockedZone } from '../zones/write-zone.ts';
import type { KeyWork } from './dnssec-state.ts';

/** The state at the start of an observation. */
type ObservedState = Pick<KeyWork, 'domainId' | 'signed' | 'machine' | 'keys'>;

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

interface SaveOptions extends Omit<LookOptions, 'wantedSince'>, Partial<Pick<LookOptions, 'wantedSince'>> {
  /** When the first signature expires, in seconds since 1970, if it is the first signature of the zone. */
  readonly expiresAt?: number | undefined;
}

export async function saveKeyStep(
  db: Database,
  look: ObservedState,
  { machine, step }: Advanced,
  options: LookOptions,
): Promise<SavedStep> {
  if (step === undefined) {
    const isSaved = await saveMachine(db, look.signed, machine, options);
    return isSaved ? { kind: 'saved', machine, isWhole: true } : { kind: 'conflict' };
  }
  return await inTransaction<SavedStep>(db, async (trx) => {
    const locked = await lockUnchanged(trx, look);
    if (locked === undefined) return { kind: 'conflict' };
    const step = { before: look.machine, after: machine, keys: look.keys };
    return await writeStep(trx, locked, step, { ...options, dueInMs: 0 });
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
    await saveMachine(trx, look.signed, after, { dueInMs: 0, rules });
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

/** Returns false if another save came first. */
async function saveMachine(
  db: Database,
  { id, seq }: SignedZone,
  machine: Machine,
  options: SaveOptions,
): Promise<boolean> {
  const { numAffectedRows } = await sql`${machineSaved(id, machine, options)} and seq = ${seq}`.execute(db);
  return numAffectedRows === 1n;
}

/** While signatures are added or removed, the phase stays; otherwise it becomes the status that users see. */
function machineSaved(
  id: number,
  machine: Machine,
  { dueInMs, rules, wantedSince, expiresAt }: SaveOptions,
): RawBuilder<unknown> {
  const isLook = wantedSince !== undefined;
  const wanted = sql`to_timestamp(${(wantedSince ?? null) as number | null}::float8 / 1000)`;
  const expiry =
    expiresAt === undefined
      ? sql``
      : sql`, expires_at = to_timestamp(${expiresAt}), resign_at = to_timestamp(${dueAt(expiresAt)})`;
  return sql`
    update signed_zones set machine = ${JSON.stringify(machine)}, seq = seq + 1, status = ${dnssecStatus(machine, rules)},
      phase = case when phase in ('signing', 'unsigning', 'off') then phase else ${phaseOf(machine, rules)} end,
      had_ds = had_ds or ${shownNow(machine.parent, rules).some(({ ds }) => ds.length > 0)},
      ds_due = ds_due and not ${isLook}::boolean, wanted_since = case when ${isLook}::boolean then ${wanted} else wanted_since end,
      due_at = clock_timestamp() + make_interval(secs => ${dueInMs / 1000}::float8)${expiry}
    where id = ${id}`;
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

interface StepToWrite {
  /** The machine around the step. */
  readonly before: Machine;
  readonly after: Machine;
  /** All keys of the zone. */
  readonly keys: KeyWork['keys'];
}

/**
 * Writes a step of the key machine into its zone, under the lock of the domain: which keys are published and sign, the
 * resulting records, and the machine. If the zone is large, the rest follows in pieces.
 */
async function writeStep(
  trx: Database,
  locked: LockedSubject,
  { before, after, keys }: StepToWrite,
  options: LookOptions,
): Promise<SavedStep> {
  const { id } = locked.signed as SignedZone;
  if (!isSigned(after.serving)) {
    await disableSigning(trx, locked.subject, BY);
    const machine = written(after, await versionOf(trx, locked));
    await machineSaved(id, machine, options).execute(trx);
    return { kind: 'saved', machine, isWhole: true }; // answers do not contain the remaining signatures
  }
  const { isWhole, names, phase } = extentOf(locked, before, after);
  const machine = isWhole ? written(after, writtenVersion(locked)) : after;
  const trip = inOneTrip(trx);
  const [signed, present] = await Promise.all([
    setKeys(trip, id, after, phase),
    names === 'whole' ? readWhole(trip, (locked.zone as LockedZone).id) : undefined,
    names !== undefined && openKeys(trip, signersOf(after, keys)), // kept for the signatures
  ]);
  if (names === undefined) await machineSaved(id, machine, options).execute(trx);
  else {
    const { expiration } = signatureTimes(locked.apex, Math.floor(locked.now.getTime() / 1000));
    const expiresAt = signed.expiresAt ?? expiration;
    const noted = signed.expiresAt === null ? { ...options, expiresAt } : options;
    const others = [sql`advanced as (${machineSaved(id, machine, noted)})`];
    await writeSigning(trx, locked, { signed: { ...signed, expiresAt }, names, present }, BY, others);
  }
  return { kind: 'saved', machine, isWhole };
}

/** Returns the keys that sign after a step. Another operator's never sign here. */
function signersOf({ serving }: Machine, keys: KeyWork['keys']): KeyWork['keys'] {
  const signers = union(serving.keySigners, serving.dataSigners);
  return keys.filter(({ id, origin }) => origin === 'ours' && signers.includes(String(id)));
}

interface StepExtent {
  /** False if the zone is large and the rest of the step is written in pieces. */
  readonly isWhole: boolean;
  /** Names that the step signs. Undefined if it writes no records. */
  readonly names: readonly [] | 'whole' | undefined;
  /** The phase that begins. */
  readonly phase?: SigningPhase;
}

function extentOf({ zone }: LockedSubject, before: Machine, after: Machine): StepExtent {
  const records = zone === undefined || zone.deleted ? undefined : zone.records;
  if (!isSigned(before.serving)) {
    const isWhole = records === undefined || records <= SMALL_ZONE_ROWS;
    const names = records !== undefined && isWhole ? 'whole' : undefined;
    return { isWhole, names, phase: isWhole ? 'waiting' : 'signing' };
  }
  if (records === undefined) return { isWhole: true, names: undefined };
  if (isSameSet(before.serving.dataSigners, after.serving.dataSigners)) return { isWhole: true, names: [] };
  const isWhole = records <= 2 * SMALL_ZONE_ROWS;
  return { isWhole, names: isWhole ? 'whole' : [] };
}

/** Returns the version of the zone after a step that is written to it if it is served. */
function writtenVersion({ zone }: LockedSubject): number {
  if (zone === undefined) return 0;
  return zone.deleted ? zone.version : zone.nextVersion;
}

/**
 * Updates the keys' dates, and the phase if it changes. A key that is published again counts as never removed. Removed
 * keys are kept for a while (destroyRetiredKeys). Returns the zone with its new keys.
 */
async function setKeys(
  trx: Database,
  signedZoneId: number,
  { serving, asked, goal }: Machine,
  phase: SigningPhase | undefined,
): Promise<SignedZone> {
  const ids = (list: readonly string[]) => sql`any(${list.map(Number)}::bigint[])`;
  const { keys, keySigners, dataSigners } = serving;
  const used = union(keys, dataSigners);
  // Foreign keys are also in CDS, because a parent that reads it deletes DS records not listed there (RFC 7344 §4.1).
  const { rows } = await sql<{ signed: SignedZoneJson }>`
    with own as (
      update signing_keys set
        published_at = case when id = ${ids(keys)} then case when retired_at is null then coalesce(published_at, clock_timestamp())
          else clock_timestamp() end when retired_at is null and not id = ${ids(used)} then published_at
          when id = ${ids(used)} then null else published_at end,
        retired_at = case when id = ${ids(used)} then null
          when published_at is not null or signs <> 'none' then coalesce(retired_at, clock_timestamp()) else retired_at end,
        signs = case when id = ${ids(keySigners)} and id = ${ids(dataSigners)} then 'both'
          when id = ${ids(keySigners)} then 'keys' when id = ${ids(dataSigners)} then 'data' else 'none' end,
        in_cds = id = ${ids(asked)}
      where signed_zone_id = ${signedZoneId} and origin = 'ours' returning *),
    others as (
      update signing_keys set
        published_at = case when id = ${ids(keys)} and retired_at is null then coalesce(published_at, clock_timestamp())
          when id = ${ids(keys)} then clock_timestamp() else published_at end,
        retired_at = case when id = ${ids(keys)} then null
          when published_at is not null then coalesce(retired_at, clock_timestamp()) else retired_at end,
        in_cds = id = ${ids(asked.filter((id) => keys.includes(id)))}
      where signed_zone_id = ${signedZoneId} and origin = 'foreign' returning *),
    zone as (
      update signed_zones set cds_delete = ${goal === 'unsigned'} and ${asked.length === 0},
        phase = coalesce(${phase ?? null}, phase)
      where id = ${signedZoneId} returning *)
    select ${signedZoneJson(sql`(select * from own union all select * from others)`)} as signed from zone s`.execute(
    trx,
  );
  return decodeSignedZone((rows[0] as { signed: SignedZoneJson }).signed);
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
