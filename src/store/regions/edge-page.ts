// Signs per-region record sets for a page of names of a signed zone. The page is read, planned and signed without a
// lock, and written under the lock of the zone, where everything that may have changed is checked again.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import {
  markOfSignature,
  type PlannedMarks,
  planEdgeMarks,
  type RegionalSet,
} from '../../zone/signing/plan-edge-marks.ts';
import { signSets } from '../../zone/signing/sign-set.ts';
import type { SigningKey } from '../../zone/signing/signing-key.ts';
import { groupRecords, recordsByOwner } from '../../zone/signing/standing.ts';
import { remakeBefore, type SignatureTimes, signatureTimes } from '../../zone/signing/validity.ts';
import { EDGE_MARK_TYPE } from '../../zone/zone.ts';
import { readOwners } from '../keys/read-zone-rows.ts';
import { zoneKeys } from '../keys/sign-change.ts';
import {
  decodeSignedZone,
  isWrittenSigned,
  SIGNED_ZONE_JSON,
  type SignedZone,
  type SignedZoneJson,
} from '../keys/signed-zone.ts';
import { TIME } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { lockSubject, writeMarks } from '../signing/write-signing.ts';

/** Names per page. Edits of the domain wait while a page is written, which takes about ten milliseconds. */
export const PAGE_NAMES = 100;

/** A zone to be signed for per-region record sets. */
interface EdgeZone {
  readonly zoneId: number;
  readonly domainId: number;
  readonly wanted: readonly RegionalSet[];
}

interface ReadZone {
  readonly version: number;
  readonly apex: Name;
  readonly signed: SignedZone;
  /** In seconds since 1970. */
  readonly at: number;
}

/** Returns undefined if the zone is not served or was never signed. */
export async function readEdgeZone(db: Database, zoneId: number): Promise<ReadZone | undefined> {
  const { rows } = await sql<{ name: string; version: number; now: Date; signed: SignedZoneJson | null }>`
    select z.name, z.version, ${TIME} as now, ${SIGNED_ZONE_JSON} as signed
    from zones z join domains d on d.zone_id = z.id left join signed_zones s on s.domain_id = d.id
    where z.id = ${zoneId} and z.deleted_at is null and d.deleted_at is null`.execute(db);
  const [row] = rows;
  if (row === undefined || row.signed === null) return undefined;
  const { name, version, now, signed } = row;
  const at = Math.floor(now.getTime() / 1000);
  return { version, apex: decodeNameColumn(name), signed: decodeSignedZone(signed), at };
}

interface PreparedPage {
  readonly names: readonly Name[];
  /** The version of the zone before the names were read. */
  readonly version: number;
  readonly keys: readonly SigningKey[];
  readonly times: SignatureTimes;
  readonly remakeBefore: number;
  readonly plans: ReadonlyMap<Name, PlannedMarks>;
  readonly signatures: MadeSignatures;
}

/** `salt` distinguishes pages. Returns undefined if the zone is no longer signed. */
export async function preparePage(
  db: Database,
  { zoneId, wanted }: EdgeZone,
  names: readonly Name[],
  salt: number,
): Promise<PreparedPage | undefined> {
  const zone = await readEdgeZone(db, zoneId);
  if (zone === undefined || !isWrittenSigned(zone.signed)) return undefined;
  const { version, apex, at } = zone;
  const keys = (await zoneKeys(db, zone.signed)).data;
  const page = {
    names,
    version,
    keys,
    times: signatureTimes(apex, at, salt),
    remakeBefore: remakeBefore(at, 'refresh'),
    signatures: new MadeSignatures(),
  };
  const plans = await planNames(db, zoneId, names, (existing) =>
    planEdgeMarks(existing, wanted, keys, page.remakeBefore),
  );
  await page.signatures.make([...plans.values()], { zone: apex, times: page.times });
  return { ...page, plans };
}

interface WrittenPage {
  readonly made: number;
  /** When the first signature expires, in seconds since 1970. */
  readonly expiresAt: number;
}

/** Returns undefined if the zone is no longer signed or served. */
export async function writePage(
  db: Database,
  { zoneId, domainId, wanted }: EdgeZone,
  page: PreparedPage,
): Promise<WrittenPage | undefined> {
  if ([...page.plans.values()].every(({ isSame }) => isSame)) return writtenOf(page.plans, 0, page);
  return await inTransaction(db, async (trx) => {
    const locked = await lockSubject(trx, { domainId });
    const { zone, signed, apex } = locked ?? {};
    if (locked === undefined || apex === undefined) return undefined;
    if (zone?.id !== zoneId || zone.deleted || !isWrittenSigned(signed)) return undefined;
    const keys = (await zoneKeys(trx, signed)).data;
    const isSameKeys = keys.length === page.keys.length && keys.every((key) => page.keys.includes(key));
    const again = isSameKeys ? await changedOf(trx, zoneId, page, zone.version) : page.names;
    const replanned = await planNames(trx, zoneId, again, (existing) =>
      planEdgeMarks(existing, wanted, keys, page.remakeBefore),
    );
    await page.signatures.make([...replanned.values()], { zone: apex, times: page.times });
    // A name that no longer exists has no plan.
    const plans = new Map([...page.plans].filter(([name]) => !again.includes(name)));
    for (const [name, plan] of replanned) plans.set(name, plan);
    const differing = [...plans].filter(([, { isSame }]) => !isSame);
    const owners = differing.map(([owner, { kept, toSign }]) => ({
      owner,
      types: [EDGE_MARK_TYPE],
      records: [...kept, ...toSign.map((one) => markOfSignature(one, page.signatures.of(one)))],
    }));
    if (owners.length > 0) await writeMarks(trx, locked, owners);
    return writtenOf(
      plans,
      differing.reduce((sum, [, { toSign }]) => sum + toSign.length, 0),
      page,
    );
  });
}

function writtenOf(plans: PreparedPage['plans'], made: number, { times }: PreparedPage): WrittenPage {
  const ends = [...plans.values()].map(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt);
  return { made, expiresAt: Math.min(...ends, made > 0 ? times.expiration : Number.POSITIVE_INFINITY) };
}

async function planNames(
  db: Database,
  zoneId: number,
  names: readonly Name[],
  plan: (stood: Parameters<typeof planEdgeMarks>[0]) => PlannedMarks,
): Promise<Map<Name, PlannedMarks>> {
  if (names.length === 0) return new Map();
  const rows = await readOwners(db, zoneId, names);
  return new Map(
    [...recordsByOwner(rows)].map(([owner, records]) => [owner, plan(groupRecords(owner, records))]),
  );
}

/** Returns the names of the page that were changed since it was read. */
async function changedOf(
  trx: Database,
  zoneId: number,
  { names, version }: PreparedPage,
  now: number,
): Promise<Name[]> {
  if (now === version) return [];
  const { rows } = await sql<{ owner: string }>`
    select distinct owner from zone_records where zone_id = ${zoneId} and version > ${version}
      and owner = any(${names.map(encodeNameColumn)}::text[])`.execute(trx);
  return rows.map(({ owner }) => decodeNameColumn(owner));
}

type ToSign = PlannedMarks['toSign'][number];

/** Signatures by signed content and key. */
class MadeSignatures {
  readonly #made = new Map<SigningKey, Map<string, Uint8Array>>();

  async make(
    plans: readonly PlannedMarks[],
    as: { readonly zone: Name; readonly times: SignatureTimes },
  ): Promise<void> {
    const missing = plans.flatMap(({ toSign }) => toSign).filter((one) => this.#find(one) === undefined);
    const signatures = await signSets(missing, as);
    for (const [i, one] of missing.entries()) {
      const ofKey = this.#made.get(one.key) ?? new Map<string, Uint8Array>();
      this.#made.set(one.key, ofKey.set(nameOf(one), signatures[i] as Uint8Array));
    }
  }

  of(one: ToSign): Uint8Array {
    return this.#find(one) as Uint8Array;
  }

  #find(one: ToSign): Uint8Array | undefined {
    return this.#made.get(one.key)?.get(nameOf(one));
  }
}

function nameOf({ set, id }: ToSign): string {
  return `${Buffer.from(id).toString('hex')} ${set.type} ${set.ttl} ${set.owner}`;
}
