// Loads zones from Postgres. Nodes use the change feed instead.

import { sql } from 'kysely';
import type { HeldZone } from '../../checks/delegation/held-zone.ts';
import { foldCase, isWithin, type Name, nameInRdata, parentOf, ROOT } from '../../dns/name.ts';
import { printAddress } from '../../dns/record/ip-address.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { arrayOf } from '../postgres/prepared-statements.ts';

/** Condition of operator zones `z`: the operator chose the content. Members of consumed catalogs prove nothing. */
export const IS_OWN_ZONE = sql`z.kind = 'operator'
  and not exists (select from secondaries s where s.zone_name = z.name and s.catalog_id is not null)`;

interface LoadedZone {
  version: number;
  records: ZoneRecord[];
}

/** Returns records in the order of owner and type, including markers. Returns undefined if there is no such zone. */
export async function loadZone(db: Database, apex: Name): Promise<LoadedZone | undefined> {
  // One statement, so that version and records come from one snapshot.
  const { rows } = await sql<{
    version: number;
    owner: string | null;
    type: number;
    ttl: number;
    rdata: Buffer;
  }>`
    select z.version, r.owner, r.type, r.ttl, r.rdata
    from zones z left join zone_records r on r.zone_id = z.id and not r.removed
    where z.name = ${encodeNameColumn(apex)} and z.deleted_at is null
    order by r.owner, r.type, r.rdata`.execute(db);
  const [first] = rows;
  if (first === undefined) return undefined;
  const records = rows.flatMap(({ owner, type, ttl, rdata }) =>
    owner === null ? [] : [{ owner: decodeNameColumn(owner), type, ttl, rdata }],
  );
  return { version: first.version, records };
}

/**
 * Loads the fleet's own zone around a name. Such a parent is not queried over the network, because the fleet's own
 * answer proves nothing. Only operator zones and active domains count, because anyone can create a pending one. Returns
 * the deepest such zone above the name; the name's own zone does not count.
 *
 * @param find `findHeldZones`, or a function that runs one statement for several callers
 */
export async function loadHeldZone(
  db: Database,
  domain: Name,
  find: (names: readonly string[]) => Promise<ReadonlyMap<string, number>> = (names) =>
    findHeldZones(db, names),
): Promise<HeldZone | undefined> {
  const [nameText, ...above] = namesUpwards(domain) as [string, ...string[]];
  const held = await find(above);
  const zoneText = above.find((name) => held.has(name));
  if (zoneText === undefined) return undefined;
  const id = held.get(zoneText) as number;
  const path = [nameText, ...above.slice(0, above.indexOf(zoneText) + 1)].reverse();
  const rows = await loadAt(db, id, path, [TYPE.NS, TYPE.DS, TYPE.CNAME, TYPE.DNAME, TYPE.SOA]);
  const { cutText, alias } = walkDown(rows, path, zoneText);
  const at = (type: number) => rows.filter((row) => row.owner === cutText && row.type === type);
  const ns = at(TYPE.NS).map(({ rdata }) => foldCase(nameInRdata(rdata)));
  const isCut = cutText !== undefined;
  return {
    zone: decodeNameColumn(zoneText),
    cut: isCut ? decodeNameColumn(cutText) : undefined,
    ns,
    ds: at(TYPE.DS).map(({ rdata }) => new Uint8Array(rdata)),
    glue: isCut ? await loadGlue(db, id, decodeNameColumn(zoneText), ns) : [],
    ttl: isCut ? (at(TYPE.NS)[0]?.ttl ?? 0) : negativeTtl(rows, zoneText),
    exists: isCut || (await hasName(db, id, nameText)),
    alias,
  };
}

/** Returns the ids of the fleet's own zones among the names. */
export async function findHeldZones(
  db: Database,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ id: number; name: string }>`
    select z.id, z.name from zones z
    where z.name = any(${arrayOf('text', names)}::text[]) and z.deleted_at is null and (${IS_OWN_ZONE} or exists (
      select from domains d where d.zone_id = z.id and d.status = 'active' and d.dns_mode = 'managed'
        and d.served = 'full'))`.execute(db);
  return new Map(rows.map(({ id, name }) => [name, id]));
}

function namesUpwards(domain: Name): string[] {
  const names = [encodeNameColumn(domain)];
  for (let name = domain; name !== ROOT; names.push(encodeNameColumn(name))) name = parentOf(name);
  return names;
}

interface HeldRow {
  readonly owner: string;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: Buffer;
}

async function loadAt(
  db: Database,
  zoneId: number,
  owners: readonly string[],
  types: readonly number[],
): Promise<HeldRow[]> {
  const { rows } = await sql<HeldRow>`
    select owner, type, ttl, rdata from zone_records
    where zone_id = ${zoneId} and owner = any(${owners}::text[]) and type = any(${types}::integer[]) and not removed
    order by owner, type, rdata`.execute(db);
  return rows;
}

/** `path` leads from the apex to the name. The first match decides, as in an answer (RFC 1034 §4.3.2 3). */
function walkDown(
  rows: readonly HeldRow[],
  path: readonly string[],
  zoneText: string,
): { cutText: string | undefined; alias: boolean } {
  const has = (owner: string, type: number) => rows.some((row) => row.owner === owner && row.type === type);
  for (const name of path) {
    if (name !== zoneText && has(name, TYPE.NS)) return { cutText: name, alias: false };
    if (has(name, TYPE.DNAME)) return { cutText: undefined, alias: true };
  }
  return { cutText: undefined, alias: has(path.at(-1) as string, TYPE.CNAME) };
}

async function loadGlue(
  db: Database,
  zoneId: number,
  zone: Name,
  ns: readonly Name[],
): Promise<HeldZone['glue']> {
  const inside = ns.filter((name) => isWithin(name, zone));
  if (inside.length === 0) return [];
  const rows = await loadAt(db, zoneId, inside.map(encodeNameColumn), [TYPE.A, TYPE.AAAA]);
  return rows.map(({ owner, rdata }) => ({ name: decodeNameColumn(owner), address: printAddress(rdata) }));
}

/** Returns the TTL of a negative answer: the SOA's TTL or its MINIMUM field, whichever is less (RFC 2308 §3). */
function negativeTtl(rows: readonly HeldRow[], zoneText: string): number {
  const soa = rows.find(({ owner, type }) => owner === zoneText && type === TYPE.SOA);
  return soa === undefined ? 0 : Math.min(soa.ttl, soa.rdata.readUInt32BE(soa.rdata.length - 4));
}

/** These types do not make a name exist: signatures cover other sets, and NSEC3 owners are hashes (RFC 5155 §7.2.8). */
const OF_NO_NAME: readonly number[] = [TYPE.RRSIG, TYPE.NSEC3];

/** Returns true if the name exists, which includes empty non-terminals (RFC 4592 §2.2.2). */
async function hasName(db: Database, zoneId: number, nameText: string): Promise<boolean> {
  const end = `.${nameText}`;
  const { rows } = await sql<{ found: boolean }>`
    select exists (select from zone_records where zone_id = ${zoneId} and owner = ${nameText} and not removed
        and type <> all(${OF_NO_NAME}::integer[]))
      or exists (select from zone_records where zone_id = ${zoneId} and not removed
        and right(owner, ${end.length}::integer) = ${end}
        and substr(owner, length(owner) - ${end.length}::integer, 1) <> '\\') as found`.execute(db);
  return rows[0]?.found ?? false;
}
