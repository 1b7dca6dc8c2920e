// Signs one change of a zone, in the transaction that writes it. Every writer of a signed zone's rows comes through here.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { BrokenRing } from '../../zone/signing/link-denials.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import { planSigning, type SigningOrder, type SigningPlan } from '../../zone/signing/plan-signing.ts';
import { signSets } from '../../zone/signing/sign-set.ts';
import type { SigningKey, ZoneKeys } from '../../zone/signing/signing-key.ts';
import { dueAt, remakeBefore, signatureTimes } from '../../zone/signing/validity.ts';
import { isMark, type ZoneRecord } from '../../zone/zone.ts';
import type { Database } from '../postgres/database.ts';
import { apexKeyRecords, isApexKeyType } from './apex-keys.ts';
import { openKeys } from './key-store.ts';
import { readNeeded, readWhole } from './read-zone-rows.ts';
import type { SignedZone, StoredKey } from './signed-zone.ts';

export interface ChangeToSign {
  /** Of the zone whose rows are written. */
  readonly zoneId: number;
  readonly apex: Name;
  readonly signed: SignedZone;
  /** Of Postgres. */
  readonly now: Date;
  /** What is published at the names that changed, the apex among them; an empty list: nothing any more. */
  readonly wanted: ReadonlyMap<Name, readonly ZoneRecord[]>;
  /** `wanted` has all names. */
  readonly isWhole?: boolean;
  /** Signatures that are due soon are made anew, too. */
  readonly isRefresh?: boolean;
  /** NSEC records that are missing at names that changed, and to which those before them point already. */
  readonly missing?: ReadonlyMap<Name, ZoneRecord>;
}

/**
 * What is to be written: sets, signatures and denials at these names, and denials of their neighbours. Throws
 * DnssecUnavailable where the keys cannot be opened here.
 */
export async function signChange(trx: Database, change: ChangeToSign): Promise<OwnerRows[]> {
  const { apex, signed, now, wanted, isWhole = false, isRefresh = false } = change;
  const at = Math.floor(now.getTime() / 1000);
  const order: SigningOrder = {
    apex,
    denial: signed.denial,
    keys: await zoneKeys(trx, signed),
    remakeBefore: remakeBefore(at, isRefresh ? 'refresh' : 'edit'),
    wanted: withApexKeys(apex, signed, wanted),
    whole: isWhole,
  };
  const plan = await planWith(trx, change, order);
  const times = signatureTimes(apex, at);
  const signatures = await signSets(plan.toSign, { zone: apex, times });
  if (signed.expiresAt === null && plan.toSign.length > 0)
    await noteSignatures(trx, signed.id, times.expiration);
  return plan.rows(signatures);
}

/** Those that are published, opened. */
export async function zoneKeys(trx: Database, { keys }: SignedZone): Promise<ZoneKeys> {
  const ours = keys.filter(({ origin, signs }) => origin === 'ours' && signs !== 'none');
  const open = await openKeys(trx, ours);
  const thatSign = (what: StoredKey['signs']) =>
    ours
      .filter(({ signs }) => signs === what || signs === 'both')
      .map(({ id }) => open.get(id) as SigningKey);
  return { entry: thatSign('keys'), data: thatSign('data') };
}

/** With the records of the keys at the apex: nobody else writes them there. */
function withApexKeys(
  apex: Name,
  signed: SignedZone,
  wanted: ReadonlyMap<Name, readonly ZoneRecord[]>,
): ReadonlyMap<Name, readonly ZoneRecord[]> {
  const others = (wanted.get(apex) ?? []).filter(({ type }) => !isApexKeyType(type));
  // CDS of a name that is not proved would hand its DS to whoever has claimed it
  const isUnproven = others.some(isMark);
  const shown = isUnproven ? withoutSignals(signed) : signed;
  return new Map([...wanted, [apex, [...others, ...apexKeyRecords(apex, shown)]]]);
}

function withoutSignals(signed: SignedZone): SignedZone {
  return { ...signed, cdsDelete: false, keys: signed.keys.map((key) => ({ ...key, inCds: false })) };
}

async function planWith(trx: Database, change: ChangeToSign, order: SigningOrder): Promise<SigningPlan> {
  try {
    return await plan(trx, change, order);
  } catch (error) {
    // What stands does not fit together: then all of it is read and written anew, and what fits is kept.
    if (!(error instanceof BrokenRing) || order.whole === true) throw error;
    const wanted = await wantedWhole(trx, change.zoneId, order);
    return await plan(trx, change, { ...order, wanted, whole: true });
  }
}

async function plan(
  trx: Database,
  { zoneId, missing }: ChangeToSign,
  order: SigningOrder,
): Promise<SigningPlan> {
  const planning = planSigning(order);
  let isFirst = true;
  for (let step = planning.next(); ; isFirst = false) {
    if (step.done) return step.value;
    const rows = await readNeeded(trx, zoneId, step.value, order);
    step = planning.next(isFirst && missing !== undefined ? [...rows, ...absent(rows, missing)] : rows);
  }
}

function absent(rows: readonly ZoneRecord[], missing: ReadonlyMap<Name, ZoneRecord>): ZoneRecord[] {
  const there = new Set(rows.filter(({ type }) => type === TYPE.NSEC).map(({ owner }) => owner));
  return [...missing.values()].filter(({ owner }) => !there.has(owner));
}

/** What stands everywhere, with what is wanted at the names that changed. */
async function wantedWhole(
  trx: Database,
  zoneId: number,
  { wanted }: SigningOrder,
): Promise<Map<Name, readonly ZoneRecord[]>> {
  const all = new Map<Name, ZoneRecord[]>();
  for (const record of await readWhole(trx, zoneId)) {
    const same = all.get(record.owner);
    if (same === undefined) all.set(record.owner, [record]);
    else same.push(record);
  }
  return new Map<Name, readonly ZoneRecord[]>([...all, ...wanted]);
}

/** When the first signature of the zone ends, in seconds since 1970; null: there are none. */
export async function noteSignatures(
  trx: Database,
  signedZoneId: number,
  expiration: number | null,
): Promise<void> {
  await sql`
    update signed_zones set expires_at = to_timestamp(${expiration}),
      resign_at = to_timestamp(${expiration === null ? null : dueAt(expiration)})
    where id = ${signedZoneId}`.execute(trx);
}
