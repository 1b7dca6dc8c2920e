// Signs a change of a zone in the transaction that writes it. Every writer of a signed zone's rows uses it. Work that
// would block the main thread for long is planned and signed in another thread.

import { isMainThread } from 'node:worker_threads';
import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { planChange } from '../../zone/signing/plan-change.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import type { Needed, SigningOrder, SigningPlan } from '../../zone/signing/plan-signing.ts';
import { signSets } from '../../zone/signing/sign-set.ts';
import type { SigningKey, ZoneKeys } from '../../zone/signing/signing-key.ts';
import { dueAt, remakeBefore, type SignatureTimes, signatureTimes } from '../../zone/signing/validity.ts';
import { isEdgeMark, type ZoneRecord } from '../../zone/zone.ts';
import type { Database } from '../postgres/database.ts';
import { allowLong } from '../postgres/deadlines.ts';
import { sendWithNext } from '../postgres/pool-driver.ts';
import { noteNames } from './hashed-names.ts';
import { openKeys } from './key-store.ts';
import { readNeeded, readPages } from './read-zone-rows.ts';
import { DnssecUnavailable, type SignedZone, type StoredKey, withApexKeys } from './signed-zone.ts';
import { packRecords, RECORDS_AT_ONCE } from './signing-job.ts';
import { SigningLane, SigningThreadError } from './signing-lane.ts';

/** Larger changes block the main thread too long: a hundred names take about 5 ms. */
const MOST_NAMES_HERE = 250;
const MOST_ROWS_HERE = 1000;

/** Callers wait for these jobs, each with an open transaction. */
const changeLane = new SigningLane({
  waiting: 3,
  limits: { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 32 },
});

export interface ChangeToSign {
  /** Id of the zone whose rows are written. */
  readonly zoneId: number;
  readonly apex: Name;
  readonly signed: SignedZone;
  readonly now: Date;
  /** The records published at the changed names, including the apex. An empty list means that nothing is published. */
  readonly wanted: ReadonlyMap<Name, readonly ZoneRecord[]>;
  /** True if `wanted` has all names of the zone. */
  readonly isWhole?: boolean;
  /** True if signatures that are due soon are renewed too. */
  readonly isRefresh?: boolean;
  /** All present rows of the zone, if they are read already. */
  readonly present?: readonly ZoneRecord[];
  /** Missing NSEC records at changed names, which the records before them already point to. */
  readonly missing?: ReadonlyMap<Name, ZoneRecord>;
}

/**
 * Returns the rows to write: sets, signatures and denial records at these names, and denial records of their
 * neighbours. Throws DnssecUnavailable if the keys cannot be opened.
 */
export async function signChange(trx: Database, change: ChangeToSign): Promise<OwnerRows[]> {
  const { zoneId, apex, signed, now, wanted, isWhole = false, isRefresh = false } = change;
  const at = Math.floor(now.getTime() / 1000);
  const order: SigningOrder = {
    apex,
    denial: signed.denial,
    keys: await zoneKeys(trx, signed),
    remakeBefore: remakeBefore(at, isRefresh ? 'refresh' : 'edit'),
    wanted: withApexKeys(apex, signed, wanted),
    whole: isWhole,
  };
  const times = signatureTimes(apex, at);
  if (signed.denial === 'nsec3') await noteNames(trx, zoneId, order.wanted, isWhole);
  const plan = await planHere(trx, change, order);
  const owners =
    plan === undefined
      ? await signInThread(trx, change, order, times)
      : plan.rows(await signSets(plan.toSign, { zone: apex, times }));
  if (owners.length > 0) await noteEdgeNames(trx, zoneId, wanted);
  if (signed.expiresAt === null && owners.length > 0) await noteSignatures(trx, signed.id, times.expiration);
  return owners;
}

/** Opens the published keys. */
export async function zoneKeys(trx: Database, { keys }: SignedZone): Promise<ZoneKeys> {
  const ours = keys.filter(({ origin, signs }) => origin === 'ours' && signs !== 'none');
  const open = await openKeys(trx, ours);
  const thatSign = (what: StoredKey['signs']) =>
    ours
      .filter(({ signs }) => signs === what || signs === 'both')
      .map(({ id }) => open.get(id) as SigningKey);
  return { entry: thatSign('keys'), data: thatSign('data') };
}

/** Plans the change in this thread. Returns undefined if so much of the zone is needed that a thread must do it. */
async function planHere(
  trx: Database,
  { zoneId, present, missing }: ChangeToSign,
  order: SigningOrder,
): Promise<SigningPlan | undefined> {
  if (isMainThread && order.wanted.size > MOST_NAMES_HERE) return undefined;
  const planning = planChange(order, missing);
  for (let step = planning.next(); ; ) {
    if (step.done) return step.value;
    const isTooMuch = isMainThread && step.value.whole && (await isLarge(trx, zoneId, present));
    if (isTooMuch) return undefined;
    const rows = step.value.whole ? present : undefined;
    step = planning.next(rows ?? (await readNeeded(trx, zoneId, step.value, order)));
  }
}

async function isLarge(
  trx: Database,
  zoneId: number,
  present: readonly ZoneRecord[] | undefined,
): Promise<boolean> {
  if (present !== undefined) return present.length > MOST_ROWS_HERE;
  const { rows } = await sql<{ records: number }>`select records from zones where id = ${zoneId}`.execute(
    trx,
  );
  return (rows[0]?.records ?? 0) > MOST_ROWS_HERE;
}

async function signInThread(
  trx: Database,
  { zoneId, missing }: ChangeToSign,
  order: SigningOrder,
  times: SignatureTimes,
): Promise<OwnerRows[]> {
  const { apex, denial, keys, remakeBefore, wanted, whole: isWhole = false } = order;
  const gone = [...wanted].filter(([, records]) => records.length === 0).map(([name]) => name);
  const work = {
    kind: 'change',
    isWhole,
    gone,
    missing: missing && packRecords([...missing.values()]),
  } as const;
  const records = {
    given: recordsOf(wanted),
    read: (needed: Needed) => readInParts(trx, zoneId, needed, order),
  };
  const owners: OwnerRows[] = [];
  if (trx.isTransaction) await allowLong(trx);
  try {
    for await (const piece of changeLane.run({ apex, denial, keys, remakeBefore, times, work }, records))
      for (const one of piece) owners.push(one);
  } catch (error) {
    if (!(error instanceof SigningThreadError)) throw error;
    throw new DnssecUnavailable(error.message, { cause: error });
  }
  return owners;
}

function* recordsOf(wanted: SigningOrder['wanted']): Generator<readonly ZoneRecord[]> {
  let part: ZoneRecord[] = [];
  for (const records of wanted.values()) {
    part.push(...records);
    if (part.length < RECORDS_AT_ONCE) continue;
    yield part;
    part = [];
  }
  yield part;
}

async function* readInParts(
  trx: Database,
  zoneId: number,
  needed: Needed,
  order: SigningOrder,
): AsyncGenerator<readonly ZoneRecord[]> {
  if (needed.whole) yield* readPages(trx, zoneId);
  else yield await readNeeded(trx, zoneId, needed, order);
}

/** Records when the first signature of the zone expires, in seconds since 1970; null if it has none. */
export async function noteSignatures(
  trx: Database,
  signedZoneId: number,
  expiration: number | null,
): Promise<void> {
  const noted = sql`
    update signed_zones set expires_at = to_timestamp(${expiration}),
      resign_at = to_timestamp(${expiration === null ? null : dueAt(expiration)})
    where id = ${signedZoneId}`;
  await sendWithNext(trx, noted);
}

/** Requests signatures over per-region record sets if the written names have any, in the transaction that writes them. */
async function noteEdgeNames(
  trx: Database,
  zoneId: number,
  written: ReadonlyMap<Name, readonly ZoneRecord[]>,
): Promise<void> {
  if ([...written.values()].some((records) => records.some(isEdgeMark))) await noteEdgeZone(trx, zoneId);
}

/** Requests signatures over per-region record sets of a zone that may have some. */
export async function noteEdgeZone(trx: Database, zoneId: number): Promise<void> {
  await sql`
    insert into edge_signings as e (zone_id, changed) values (${zoneId}, nextval('change_version'))
    on conflict (zone_id) do update set changed = excluded.changed`.execute(trx);
}

/**
 * Records that signatures were renewed, so that those over per-region record sets are renewed with the same keys, as a
 * part of a WITH.
 */
export function signaturesRenewed(zoneId: number): RawBuilder<unknown> {
  return sql`renewed as (
    update edge_signings set changed = nextval('change_version') where zone_id = ${zoneId})`;
}
