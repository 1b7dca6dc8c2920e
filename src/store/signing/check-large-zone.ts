// Verifies a large signed zone in pieces, so that memory and pauses of the event loop are limited: the whole chain of
// denial records, and the signatures of about one in eight names, which are different ones each time.

import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Name, printName } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { SignedFault } from '../../zone/signing/check-ring.ts';
import { findSignatureFaults } from '../../zone/signing/check-signed.ts';
import { denialType, readLink } from '../../zone/signing/denial-records.ts';
import { type DenialKind, namesBetween } from '../../zone/signing/signed-types.ts';
import { readOwners } from '../keys/read-zone-rows.ts';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { allowLong } from '../postgres/deadlines.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

const NAMES_AT_ONCE = 64;
/** Maximum number of groups of names that are skipped after a group, chosen at random. */
const MOST_SKIPPED = 14;
const LINKS_AT_ONCE = 500;
const MOST_FAULTS = 100;

interface LargeZone {
  readonly id: number;
  readonly apex: Name;
}

/** Uses the database's time. Returns one line per fault. */
export async function checkLargeZone(db: Database, zone: LargeZone): Promise<string[]> {
  const faults = await checkChain(db, zone);
  const at = Math.floor((await currentTime(db)).getTime() / 1000);
  for (let after = '', skipped = 0; faults.length < MOST_FAULTS; ) {
    const owners = await nextOwners(db, zone.id, after, skipped * NAMES_AT_ONCE);
    const last = owners.at(-1);
    if (last === undefined) break;
    after = last;
    skipped = Math.floor(Math.random() * (MOST_SKIPPED + 1));
    // One statement reads the names and the keys, so edits in the meantime cause no fault.
    const names = owners.map(decodeNameColumn);
    const above = names.flatMap((name) => [...namesBetween(name, zone.apex)]);
    const rows = await readOwners(db, zone.id, [...new Set([zone.apex, ...above, ...names])]);
    faults.push(...(await printFaults(findSignatureFaults(zone.apex, rows, at))));
  }
  return faults;
}

/** Returns one line per fault, up to a limit. */
export async function printFaults(faults: Iterable<SignedFault | undefined>): Promise<string[]> {
  const printed: string[] = [];
  for (const fault of faults) {
    if (fault === undefined) await setImmediate();
    else printed.push(fault.text);
    if (printed.length >= MOST_FAULTS) break;
  }
  return printed;
}

/** Returns owners in stored form, in order, after `after` and `skipped` further ones. */
async function nextOwners(db: Database, zoneId: number, after: string, skipped: number): Promise<string[]> {
  const { rows } = await sql<{ owner: string }>`
    select distinct owner from zone_records where zone_id = ${zoneId} and owner > ${after} and not removed
    order by owner offset ${skipped} limit ${NAMES_AT_ONCE}`.execute(db);
  return rows.map(({ owner }) => owner);
}

/** Checks that each denial record points to the next one, and the last one to the first. */
async function checkChain(db: Database, { id, apex }: LargeZone): Promise<string[]> {
  const faults: string[] = [];
  // One snapshot, because an edit between two statements would look like a broken chain.
  const reading = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  await reading.execute(async (trx) => {
    await allowLong(trx);
    const atApex = await readOwners(trx, id, [apex]);
    const kind = atApex.some(({ type }) => type === TYPE.NSEC3PARAM) ? 'nsec3' : 'nsec';
    let first: string | undefined;
    let expected: string | undefined;
    let before = apex;
    for await (const { owner, place, nextPlace } of readLinks(trx, { id, apex }, kind)) {
      first ??= place;
      if (expected !== undefined && place !== expected) faults.push(notNext(before));
      [expected, before] = [nextPlace, owner];
      if (faults.length >= MOST_FAULTS) return;
    }
    if (first === undefined || expected !== first) faults.push(notNext(before));
  });
  return faults;
}

function notNext(owner: Name): string {
  return `the denial of ${printName(owner)} does not point to the next one`;
}

async function* readLinks(trx: Database, { id, apex }: LargeZone, kind: DenialKind) {
  const type = denialType(kind);
  for (let after: Buffer | undefined; ; ) {
    const isNext = after === undefined ? sql`` : sql`and place > ${after}`;
    const { rows } = await sql<{ owner: string; place: Buffer; rdata: Buffer }>`
      select owner, place, rdata from zone_records
      where zone_id = ${id} and type = ${type} and place is not null and not removed ${isNext}
      order by place fetch first ${LINKS_AT_ONCE} rows with ties`.execute(trx);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.place;
    for (const row of rows) {
      const owner = decodeNameColumn(row.owner);
      const link = readLink({ owner, type, ttl: 0, rdata: [row.rdata] }, apex, kind);
      if (link !== undefined) yield { ...link, owner };
    }
  }
}
