// Makes the signatures over sets of regions that names of signed zones need, and drops those that they need no more. Each page of
// names is read, signed and written under the lock of its zone: edits wait for it as long as for one another.

import { sql } from 'kysely';
import type { EdgeSets } from '../../zone/edge-sets.ts';
import {
  markOfSignature,
  planEdgeMarks,
  type RegionalSet,
  setsToSign,
} from '../../zone/signing/plan-edge-marks.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import { signSets } from '../../zone/signing/sign-set.ts';
import { groupRecords, recordsByOwner } from '../../zone/signing/standing.ts';
import { dueAt, remakeBefore, signatureTimes } from '../../zone/signing/validity.ts';
import { EDGE_MARK_TYPE } from '../../zone/zone.ts';
import { readOwners } from '../keys/read-zone-rows.ts';
import { zoneKeys } from '../keys/sign-change.ts';
import { isWrittenSigned } from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { lockSubject } from '../signing/lock-signed-zone.ts';
import { writeOwners } from '../signing/write-signing.ts';

interface DueEdgeZone {
  readonly zoneId: number;
  readonly domainId: number;
  readonly name: string;
  /** The version that was looked at; null: all names are to be. */
  readonly since: number | null;
  /** When the first signature ends that was seen then, in seconds since 1970. */
  readonly expiresAt: number | null;
}

const PAGE_NAMES = 250;

/** Which sets zones are to be signed for, as `edge_signings` keeps it. */
export function signedSetsKey(sets: EdgeSets): string {
  return setsToSign(sets)
    .map(({ id }) => Buffer.from(id).toString('hex'))
    .sort()
    .join(' ');
}

/** Signed zones that changed since they were looked at, that were signed for other sets, or whose signatures end soon. */
export async function findDueEdgeZones(db: Database, key: string, limit: number): Promise<DueEdgeZone[]> {
  const soon = sql`now() + make_interval(secs => ${-dueAt(0)})`;
  const { rows } = await sql<DueEdgeZone>`
    select z.id as "zoneId", d.id as "domainId", z.name,
      case when e.sets = ${key} and (e.expires_at is null or e.expires_at >= ${soon}) then e.zone_version end as since,
      floor(extract(epoch from e.expires_at)) as "expiresAt"
    from signed_zones s join domains d on d.id = s.domain_id join zones z on z.id = d.zone_id
      left join edge_signings e on e.zone_id = z.id
    where s.phase not in ('signing', 'unsigning', 'off') and z.deleted_at is null and d.deleted_at is null
      and (e.zone_id is null or e.zone_version <> z.version or e.sets <> ${key} or e.expires_at < ${soon})
    order by z.id limit ${limit}`.execute(db);
  return rows;
}

/** Gives how many signatures were made. Throws DnssecUnavailable. */
export async function signEdgeSets(
  db: Database,
  due: DueEdgeZone,
  sets: EdgeSets,
  signal: AbortSignal,
): Promise<number> {
  const key = signedSetsKey(sets);
  const wanted = setsToSign(sets);
  let made = 0;
  let after = '';
  let expiresAt = due.since === null ? null : due.expiresAt;
  let seen: { first: number; last: number; isAlone: boolean } | undefined;
  for (let salt = 0; ; salt++) {
    signal.throwIfAborted();
    const page = await inTransaction(db, (trx) => signPage(trx, due, wanted, { after, salt }));
    if (page === undefined) return made; // no longer signed, or served
    made += page.made;
    expiresAt = Math.min(expiresAt ?? Number.POSITIVE_INFINITY, page.expiresAt);
    if (!Number.isFinite(expiresAt)) expiresAt = null;
    // a zone that others changed meanwhile is looked at again from here
    if (seen === undefined) seen = { first: page.found, last: page.left, isAlone: true };
    else seen = { ...seen, last: page.left, isAlone: seen.isAlone && seen.last === page.found };
    if (page.last === undefined) break;
    after = page.last;
  }
  const version = seen.isAlone ? seen.last : seen.first;
  await sql`
    insert into edge_signings (zone_id, zone_version, sets, expires_at)
    select id, ${version}, ${key}, to_timestamp(${expiresAt}) from zones where id = ${due.zoneId}
    on conflict (zone_id) do update set zone_version = excluded.zone_version, sets = excluded.sets,
      expires_at = excluded.expires_at`.execute(db);
  return made;
}

interface Page {
  readonly made: number;
  readonly expiresAt: number;
  /** The zone's version before and after. */
  readonly found: number;
  readonly left: number;
  /** The last owner, as stored; undefined: there is none behind it. */
  readonly last: string | undefined;
}

async function signPage(
  trx: Database,
  { domainId, zoneId, since }: DueEdgeZone,
  wanted: readonly RegionalSet[],
  { after, salt }: { readonly after: string; readonly salt: number },
): Promise<Page | undefined> {
  const locked = await lockSubject(trx, { domainId });
  const { zone, signed, apex, now } = locked ?? {};
  if (locked === undefined || apex === undefined || now === undefined) return undefined;
  if (zone?.id !== zoneId || zone.deleted || !isWrittenSigned(signed)) return undefined;
  const { rows: found } = await sql<{ owner: string }>`
    select distinct owner from zone_records r
    where zone_id = ${zoneId} and owner > ${after} and type = ${EDGE_MARK_TYPE} and not removed and ${
      since === null
        ? sql`true`
        : sql`exists (select from zone_records c where c.zone_id = ${zoneId} and c.owner = r.owner and c.version > ${since})`
    } order by owner limit ${PAGE_NAMES}`.execute(trx);
  const last = found.length < PAGE_NAMES ? undefined : found.at(-1)?.owner;
  const page = {
    found: zone.version,
    left: zone.version,
    last,
    made: 0,
    expiresAt: Number.POSITIVE_INFINITY,
  };
  if (found.length === 0) return page;
  const at = Math.floor(now.getTime() / 1000);
  const keys = await zoneKeys(trx, signed);
  const rows = await readOwners(
    trx,
    zoneId,
    found.map(({ owner }) => decodeNameColumn(owner)),
  );
  const plans = [...recordsByOwner(rows)].map(([owner, records]) => ({
    owner,
    ...planEdgeMarks(groupRecords(owner, records), wanted, keys.data, remakeBefore(at, 'refresh')),
  }));
  const toSign = plans.flatMap((plan) => plan.toSign);
  const times = signatureTimes(apex, at, salt);
  const signatures = (await signSets(toSign, { zone: apex, times })).values();
  const owners: OwnerRows[] = [];
  for (const plan of plans) {
    if (plan.isSame) continue;
    const fresh = plan.toSign.map((one) => markOfSignature(one, signatures.next().value as Uint8Array));
    owners.push({ owner: plan.owner, types: [EDGE_MARK_TYPE], records: [...plan.kept, ...fresh] });
  }
  const ends = plans.map(({ expiresAt = Number.POSITIVE_INFINITY }) => expiresAt);
  const expiresAt = Math.min(...ends, toSign.length > 0 ? times.expiration : Number.POSITIVE_INFINITY);
  if (owners.length === 0) return { ...page, expiresAt };
  await writeOwners(trx, locked, owners, 'refresh');
  return { ...page, made: toSign.length, expiresAt, left: zone.nextVersion };
}
