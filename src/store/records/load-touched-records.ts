// Loads the records that a write needs, under the domain's lock. The service's own NS records are left out, because
// they are published from settings. Other managed records are published as they are.

import { type RawBuilder, sql } from 'kysely';
import { isWildcard, type Name, parentOf } from '../../dns/name.ts';
import { type Edit, idsTouched, namesTouched } from '../../zone/edit/edit.ts';
import { formerHosts, possibleGlue } from '../../zone/edit/glue-needed.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { CustomerRecord } from '../../zone/records/customer-record.ts';
import { namesBetween } from '../../zone/records/record-name.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { arrayOf, MAX_ARRAY_ITEMS } from '../postgres/prepared-statements.ts';
import { decodeRecord, RECORD_JSON, type RecordJson } from './record-row.ts';

/** Condition on records `r`. */
const IS_NO_OWN_NS = sql`not (r.managed and r.type = 'NS')`;

interface RecordRow {
  readonly record: RecordJson;
}

/**
 * Selects the records `r` of a domain at these names. Postgres looks up each name, because by its statistics it would
 * read all records of the domain: most domains have few.
 */
export function recordsAt(domainId: RawBuilder<unknown>, names: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select distinct unnest(${names}) as name) a cross join lateral (
    select * from records o where o.domain_id = ${domainId} and o.name = a.name offset 0) r`;
}

/** Excludes managed records. */
export async function loadRecordsWithIds(
  trx: Database,
  domainId: number,
  ids: readonly number[],
): Promise<CustomerRecord[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<RecordRow>`
    select ${RECORD_JSON} as record from ${withIds(ids, 'r')} where r.domain_id = ${domainId} and not r.managed`.execute(
    trx,
  );
  return rows.map(({ record }) => decodeRecord(record));
}

/** Returns those of the names at which the domain has records. */
export async function loadNamesInUse(
  db: Database,
  domainId: number,
  names: readonly Name[],
): Promise<ReadonlySet<Name>> {
  if (names.length === 0) return new Set();
  const { rows } = await sql<{ name: string }>`
    select distinct r.name from ${recordsAt(sql`${domainId}`, sql`${names.map(encodeNameColumn)}::text[]`)}`.execute(
    db,
  );
  return new Set(rows.map(({ name }) => decodeNameColumn(name)));
}

/** `among` is a condition on the records `r`. */
export async function loadRecordsAt(
  trx: Database,
  domainId: number,
  names: readonly Name[],
  among: RawBuilder<unknown> = sql`true`,
): Promise<CustomerRecord[]> {
  if (names.length === 0) return [];
  const columns = names.map(encodeNameColumn);
  const found =
    names.length > MAX_ARRAY_ITEMS
      ? sql`records r where r.domain_id = ${domainId} and r.name = any(${arrayOf('text', columns)})`
      : sql`${recordsAt(sql`${domainId}`, sql`${columns}::text[]`)} where true`;
  const { rows } = await sql<RecordRow>`
    select ${RECORD_JSON} as record from ${found} and ${IS_NO_OWN_NS} and ${among} order by r.id`.execute(
    trx,
  );
  return rows.map(({ record }) => decodeRecord(record));
}

/** The host of the record `r`, as in the index `records_host`. The destination of an SRV record begins with its numbers. */
const HOST = sql`lower(split_part(r.destination, ' ', -1) collate "C")`;

/**
 * Selects the same within another statement, for the domain `d`, together with the records at its apex and at the names of
 * the records with these ids.
 */
export function recordsAtApexAnd(names: readonly string[], ids: readonly number[]): RawBuilder<unknown> {
  const more =
    ids.length === 0
      ? sql``
      : sql` || array(select t.name from ${withIds(ids, 't')} where t.domain_id = d.id)`;
  return sql`(select json_agg(${RECORD_JSON} order by r.id)
      from ${recordsAt(sql`d.id`, sql`array_append(${arrayOf('text', names)}, d.name)${more}`)} where ${IS_NO_OWN_NS})`;
}

/** Facts about existing records that an edit depends on. */
export interface TouchedJson {
  /** Those of the ids whose records the service manages. */
  readonly managed: readonly number[];
  /** True if NS, MX or SRV records name the owner of one of the records. */
  readonly isNamed: boolean;
}

/** Selects `TouchedJson` within another statement, for the domain `d`. */
export function touchedRecords(ids: readonly number[]): RawBuilder<unknown> {
  return sql`(select json_build_object('managed', coalesce(json_agg(t.id) filter (where t.managed), '[]'),
      'isNamed', coalesce(bool_or(exists (
        select from records r where r.domain_id = d.id and r.type in ('NS', 'MX', 'SRV') and not r.managed
          and ${HOST} = left(t.name, -1))), false))
    from ${withIds(ids, 't')} where t.domain_id = d.id)`;
}

/** Selects the records of all domains with these ids, by their primary key. */
function withIds(ids: readonly number[], alias: 'r' | 't'): RawBuilder<unknown> {
  return sql`(select * from records where id = any(${arrayOf('bigint', ids)}::bigint[]) offset 0) ${sql.ref(alias)}`;
}

/** A low limit, because a wildcard requires all NS, MX and SRV records of the domain. */
const MAX_WILDCARDS = 4;

/**
 * Loads NS, MX and SRV records that name one of the hosts, up to a limit. Each of the first wildcards stands for the
 * hosts below its parent that have no records.
 */
export async function loadRecordsNaming(
  trx: Database,
  domainId: number,
  hosts: readonly Name[],
  limit: number,
): Promise<CustomerRecord[]> {
  if (hosts.length === 0) return [];
  const texts = hosts.map(printWithoutDot);
  const suffixes = hosts
    .filter(isWildcard)
    .slice(0, MAX_WILDCARDS)
    .map((name) => `.${printWithoutDot(parentOf(name))}`);
  const matches = sql`exists (select from unnest(${suffixes}::text[]) s (text) where right(${HOST}, length(s.text)) = s.text)
    and not exists (select from records o where o.domain_id = r.domain_id and o.name = ${HOST} || '.')`;
  // Materialized, because with LIMIT Postgres picks any index that may find a row early.
  const { rows } = await sql<RecordRow>`
    with naming as materialized (
      select r.* from records r
      where r.domain_id = ${domainId} and r.type in ('NS', 'MX', 'SRV') and not r.managed
        and (${HOST} = any(${texts}::text[])${suffixes.length > 0 ? sql` or ${matches}` : sql``}))
    select ${RECORD_JSON} as record from (select * from naming limit ${limit}) r order by r.id`.execute(trx);
  return rows.map(({ record }) => decodeRecord(record));
}

/** Loads for each host one NS record at another name that points to it, if there is any. */
async function loadNameserversNaming(
  trx: Database,
  domainId: number,
  hosts: readonly Name[],
  except: readonly Name[],
): Promise<CustomerRecord[]> {
  if (hosts.length === 0) return [];
  // An aggregate, because with LIMIT 1 Postgres picks any index that may find a row early.
  const { rows } = await sql<RecordRow>`
    select ${RECORD_JSON} as record from unnest(${hosts.map(printWithoutDot)}::text[]) as h(host) cross join lateral (
      select max(r.id + 0) as id from records r
      where r.domain_id = ${domainId} and r.type = 'NS' and not r.managed
        and ${HOST} = h.host and r.name <> all(${except.map(encodeNameColumn)}::text[])) n
    join records r on r.id = n.id`.execute(trx);
  return rows.map(({ record }) => decodeRecord(record));
}

/** Reads only the domain's names, because delegations and DNAMEs are rare. */
async function namesBelow(
  trx: Database,
  domainId: number,
  apex: Name,
  above: readonly Name[],
): Promise<Name[]> {
  if (above.length === 0) return [];
  const tops = new Set(above);
  const owners = await loadOwners(trx, domainId);
  return owners.filter(
    (name) => name !== apex && [...namesBetween(name, apex), apex].some((each) => tops.has(each)),
  );
}

/** Returns all names at which the domain has records. */
async function loadOwners(trx: Database, domainId: number): Promise<Name[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct name from records where domain_id = ${domainId}`.execute(trx);
  return rows.map(({ name }) => decodeNameColumn(name));
}

/** With more names, one scan of all records costs less than one for each name. */
const MAX_SEARCHED_NAMES = 16;

/** Returns those of the names that exist: they, or names below them, have records. */
export async function loadExistingNames(
  trx: Database,
  domainId: number,
  apex: Name,
  names: ReadonlySet<Name>,
): Promise<ReadonlySet<Name>> {
  if (names.size === 0) return names;
  if (names.size > MAX_SEARCHED_NAMES) {
    const found = new Set<Name>();
    for (const owner of await loadOwners(trx, domainId)) {
      if (owner === apex) continue;
      for (const name of [owner, ...namesBetween(owner, apex)]) if (names.has(name)) found.add(name);
    }
    return found;
  }
  const { rows } = await sql<{ name: string }>`
    select a.name from unnest(${[...names].map(encodeNameColumn)}::text[]) a (name)
    where exists (
      select from records r
      where r.domain_id = ${domainId} and (r.name = a.name or right(r.name, length(a.name) + 1) = '.' || a.name))`.execute(
    trx,
  );
  return new Set(rows.map(({ name }) => decodeNameColumn(name)));
}

interface Known {
  readonly names: readonly Name[];
  /** Every record at these names. */
  readonly records: readonly CustomerRecord[];
  /** True if the records of `idsTouched` and all others at their names are among them. */
  readonly hasTouched: boolean;
}

/** Loads the records that `planEditInPieces` needs, and all records at the apex, because every change republishes the apex. */
export async function loadTouchedRecords(
  trx: Database,
  domainId: number,
  apex: Name,
  edit: Edit,
  known: Known = { names: [], records: [], hasTouched: false },
): Promise<CustomerRecord[]> {
  const ids = idsTouched(edit);
  const found = known.hasTouched
    ? known.records.filter(({ id, managed }) => managed !== true && ids.includes(id))
    : await loadRecordsWithIds(trx, domainId, ids);
  const needed = namesTouched(edit, apex, found);
  const below = await namesBelow(trx, domainId, apex, needed.below);
  const at = new Set([apex, ...needed.at, ...below]);
  const isKnown = new Set(known.names);
  if (known.hasTouched) for (const { name } of found) isKnown.add(name);
  const unknown = [...at].filter((name) => !isKnown.has(name));
  const records = [...known.records, ...(await loadRecordsAt(trx, domainId, unknown))];
  const hosts = formerHosts(needed, apex, records).filter((name) => !at.has(name));
  records.push(...(await loadRecordsAt(trx, domainId, hosts)));
  for (const host of hosts) at.add(host);
  const above = new Set([...needed.cutsAt, ...hosts.flatMap((host) => [...namesBetween(host, apex)])]);
  records.push(
    ...(await loadRecordsAt(
      trx,
      domainId,
      [...above].filter((name) => !at.has(name) && !isKnown.has(name)),
      sql`r.type in ('NS', 'DNAME')`,
    )),
  );
  const glue = possibleGlue(needed, apex, records);
  records.push(...(await loadNameserversNaming(trx, domainId, glue, needed.below)));
  return [...new Map(records.map((record) => [record.id, record])).values()];
}

export async function loadRecordsByName(
  trx: Database,
  domainId: number,
): Promise<Map<Name, CustomerRecord[]>> {
  const { rows } = await sql<RecordRow>`
    select ${RECORD_JSON} as record from records r where r.domain_id = ${domainId} and ${IS_NO_OWN_NS}
    order by r.name, r.id`.execute(trx);
  const byName = new Map<Name, CustomerRecord[]>();
  for (const row of rows) {
    const record = decodeRecord(row.record);
    const list = byName.get(record.name);
    if (list === undefined) byName.set(record.name, [record]);
    else list.push(record);
  }
  return byName;
}
