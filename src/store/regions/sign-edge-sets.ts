// Makes the signatures over per-region record sets that names of signed zones need, and drops those no longer needed.
// It prepares a page while the previous one is written.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { EdgeSets } from '../../zone/edge-sets.ts';
import { setsToSign } from '../../zone/signing/plan-edge-marks.ts';
import { EDGE_MARK_TYPE } from '../../zone/zone.ts';
import { isWrittenSigned } from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import {
  type DueEdgeZone,
  dropEdgeZone,
  noteExamined,
  renewEdgeLease,
  signedSetsKey,
} from './claim-edge-zones.ts';
import { PAGE_NAMES, preparePage, readEdgeZone, writePage } from './edge-page.ts';

/** If more names have changed, all names of the zone are examined. */
const MOST_CHANGED = 5000;
const RENEW_MS = 20_000;

/** Returns the number of signatures made. Throws DnssecUnavailable. */
export async function signEdgeSets(
  db: Database,
  due: DueEdgeZone,
  sets: EdgeSets,
  signal: AbortSignal,
): Promise<number> {
  const { zoneId, domainId } = due;
  const first = await readEdgeZone(db, zoneId);
  if (first?.signed.phase === 'signing') return 0; // it may be signed when its lease ends
  if (domainId === null || first === undefined || !isWrittenSigned(first.signed)) {
    await dropEdgeZone(db, due);
    return 0;
  }
  const zone = { zoneId, domainId, wanted: setsToSign(sets) };
  const changed = due.since === null ? undefined : await changedNames(db, zoneId, due.since);
  const pages = pagesOf(db, zoneId, changed);
  let expiresAt = (changed && due.expiresAt) ?? Number.POSITIVE_INFINITY;
  let leasedMs = performance.now();
  let made = 0;
  let salt = 0;
  const prepareNext = async () => {
    const { value: names } = await pages.next();
    return names && (await preparePage(db, zone, names, salt++));
  };
  let page = await prepareNext();
  while (page !== undefined) {
    signal.throwIfAborted();
    const [written, next] = await Promise.all([writePage(db, zone, page), prepareNext()]);
    if (written === undefined) return made; // no longer signed or served: claimed again when its lease ends
    made += written.made;
    expiresAt = Math.min(expiresAt, written.expiresAt);
    page = next;
    if (performance.now() - leasedMs < RENEW_MS) continue;
    leasedMs = performance.now();
    await renewEdgeLease(db, due);
  }
  await noteExamined(db, due, {
    version: first.version,
    key: signedSetsKey(sets),
    expiresAt: Number.isFinite(expiresAt) ? expiresAt : null,
  });
  return made;
}

/** Returns the names with changes other than signatures over per-region record sets, or undefined if there are too many. */
async function changedNames(db: Database, zoneId: number, since: number): Promise<Name[] | undefined> {
  const { rows } = await sql<{ owner: string }>`
    select distinct owner from zone_records
    where zone_id = ${zoneId} and version > ${since} and (type <> ${EDGE_MARK_TYPE} or octet_length(rdata) = 0)
    limit ${MOST_CHANGED + 1}`.execute(db);
  return rows.length > MOST_CHANGED ? undefined : rows.map(({ owner }) => decodeNameColumn(owner));
}

/** Yields names with edge marks in pages, and changed names even without them. */
async function* pagesOf(
  db: Database,
  zoneId: number,
  changed: readonly Name[] | undefined,
): AsyncGenerator<readonly Name[], undefined> {
  for (let at = 0; at < (changed?.length ?? 0); at += PAGE_NAMES)
    yield changed?.slice(at, at + PAGE_NAMES) ?? [];
  if (changed !== undefined) return;
  for (let after = ''; ; ) {
    const { rows } = await sql<{ owner: string }>`
      select distinct owner from zone_records
      where zone_id = ${zoneId} and owner > ${after} and type = ${EDGE_MARK_TYPE} and not removed
      order by owner limit ${PAGE_NAMES}`.execute(db);
    const names = rows.map(({ owner }) => decodeNameColumn(owner));
    if (names.length > 0) yield names;
    if (names.length < PAGE_NAMES) return;
    after = encodeNameColumn(names.at(-1) as Name);
  }
}
