// Loads a domain's records as its customers see them, with the service's own NS at the apex.

import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { type CustomerRecord, setKey } from '../../zone/records/customer-record.ts';
import type { ApiType } from '../../zone/records/customer-types.ts';
import { printDestination } from '../../zone/records/destination.ts';
import { foldText, foldWithLabels, isAscii } from '../../zone/records/fold-text.ts';
import type { Database } from '../postgres/database.ts';
import { type Page, type Paged, pageSql, type SortKey, streamPages, toPage } from '../postgres/list-page.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { decodeRecord, RECORD_COLUMNS, type RecordRow } from './record-row.ts';

export interface ListedRecord extends CustomerRecord {
  /** The record belongs to the service and cannot be edited. */
  readonly managed: boolean;
}

export const RECORD_SORTS = ['name', 'type', 'updated_at'] as const;
type RecordSort = (typeof RECORD_SORTS)[number];

export interface RecordFilter {
  readonly name?: Name;
  readonly types?: readonly ApiType[];
  readonly proxied?: boolean;
  /** Text in the relative name, destination or comment, in any case; A-labels are also searched in Unicode. */
  readonly search?: string;
}

export interface RecordOrder {
  readonly sort: RecordSort;
  readonly descending: boolean;
}

type ListedRow = RecordRow & { readonly managed: boolean };

function decodeListed(row: ListedRow): ListedRecord {
  return Object.assign(decodeRecord(row), { managed: row.managed });
}

export async function loadRecord(
  db: Database,
  domainId: number,
  id: number,
): Promise<ListedRecord | undefined> {
  const { rows } = await sql<ListedRow>`
    select ${RECORD_COLUMNS}, r.managed from records r
    where r.id = ${id} and r.domain_id = ${domainId}`.execute(db);
  return rows.map(decodeListed)[0];
}

const SORT_KEYS: Readonly<Record<RecordSort, SortKey>> = {
  name: { expression: sql`r.name`, type: 'text' },
  type: { expression: sql`r.type`, type: 'text' },
  updated_at: { expression: sql`r.updated_at`, type: 'timestamptz' },
};

type SortedRow = ListedRow & { readonly sortKey: string };

/** Throws `CursorError`. */
export async function listRecords(
  db: Database,
  domainId: number,
  filter: RecordFilter,
  order: RecordOrder,
  page: Page,
): Promise<Paged<ListedRecord>> {
  const matches = await matcherBeyondSql(db, domainId, filter);
  const rows =
    matches === undefined
      ? await selectRows(db, domainId, filter, order, page)
      : await matchRows(candidates(db, domainId, filter, order, page.cursor), matches, page);
  return toPage(rows, page.limit, order, decodeListed);
}

/** Selects one row more than the page has room for, if there is another page. */
async function selectRows(
  db: Database,
  domainId: number,
  filter: RecordFilter,
  order: RecordOrder,
  { limit, cursor, offset = 0 }: Page,
): Promise<SortedRow[]> {
  const key = SORT_KEYS[order.sort];
  const { behind, direction } = pageSql(order, key, sql`r.id`, cursor);
  const { rows } = await sql<SortedRow>`
    select ${RECORD_COLUMNS}, r.managed, ${key.expression}::text as "sortKey" from records r
    where ${conditions(domainId, filter)} and ${behind}
    order by ${key.expression} ${direction}, r.id ${direction}
    offset ${offset} limit ${limit + 1}`.execute(db);
  return rows;
}

/** Does the same with rows that may match, and tests each. */
async function matchRows(
  rows: AsyncIterable<SortedRow>,
  matches: (row: SortedRow) => boolean,
  { limit, offset = 0 }: Page,
): Promise<SortedRow[]> {
  const found: SortedRow[] = [];
  let passed = 0;
  for await (const row of rows) {
    if (!matches(row) || passed++ < offset) continue;
    found.push(row);
    if (found.length > limit) break;
  }
  return found;
}

function candidates(
  db: Database,
  domainId: number,
  filter: RecordFilter,
  order: RecordOrder,
  from: string | undefined,
): AsyncGenerator<SortedRow> {
  return streamPages(async ({ limit, cursor = from }) => {
    const page = { limit, ...(cursor !== undefined && { cursor }) };
    return toPage(await selectRows(db, domainId, filter, order, page), limit, order, (row) => row);
  });
}

/** Undefined when SQL can decide: letters beyond ASCII and A-labels are not left to the database (see `foldText`). */
async function matcherBeyondSql(
  db: Database,
  domainId: number,
  { search }: RecordFilter,
): Promise<((row: ListedRow) => boolean) | undefined> {
  if (!isBeyondAscii(search)) return undefined;
  const words = foldText(search);
  const domain = await db.selectFrom('domains').select('name').where('id', '=', domainId).executeTakeFirst();
  const apexLength = domain?.name.length ?? 0;
  return ({ name, type, rdata, comment }) => {
    const relative = name.slice(0, name.length - apexLength);
    const { destination } = printDestination(type, rdata);
    return [relative, destination, comment ?? ''].some((place) => foldWithLabels(place).includes(words));
  };
}

function isBeyondAscii(search: string | undefined): search is string {
  return search !== undefined && !isAscii(foldText(search));
}

export function streamRecords(
  db: Database,
  domainId: number,
  filter: RecordFilter,
  order: RecordOrder,
): AsyncGenerator<ListedRecord> {
  return streamPages((page) => listRecords(db, domainId, filter, order, page));
}

export async function countRecords(db: Database, domainId: number, filter: RecordFilter): Promise<number> {
  const matches = await matcherBeyondSql(db, domainId, filter);
  if (matches !== undefined) {
    const order = { sort: 'name', descending: false } as const;
    let count = 0;
    for await (const row of candidates(db, domainId, filter, order, undefined)) if (matches(row)) count++;
    return count;
  }
  const { rows } = await sql<{ count: number }>`
    select count(*) from records r where ${conditions(domainId, filter)}`.execute(db);
  return rows[0]?.count ?? 0;
}

/** The keys of the domain's record sets (`setKey`), without managed records. */
export async function loadSetKeys(db: Database, domainId: number): Promise<Set<string>> {
  const { rows } = await sql<{ name: string; type: ApiType }>`
    select distinct r.name, r.type from records r where r.domain_id = ${domainId} and not r.managed`.execute(
    db,
  );
  return new Set(rows.map(({ name, type }) => setKey(decodeNameColumn(name), type)));
}

function conditions(domainId: number, { name, types, proxied, search }: RecordFilter): RawBuilder<unknown> {
  const all = [sql`r.domain_id = ${domainId}`];
  if (name !== undefined) all.push(sql`r.name = ${encodeNameColumn(name)}`);
  if (types !== undefined) all.push(sql`r.type = any(${types}::text[])`);
  if (proxied !== undefined) all.push(sql`r.proxied = ${proxied}`);
  if (search === undefined || search === '') return sql.join(all, sql` and `);
  // Search the relative names, since every name ends in the domain's own, whose length is asked once.
  const apexOctets = sql`(select length(d.name) from domains d where d.id = ${domainId})`;
  const relative = sql`case when length(r.name) = ${apexOctets} then '@' else left(r.name, -1 - ${apexOctets}) end`;
  const places = [relative, sql`r.destination`, sql`r.comment`];
  const found = isBeyondAscii(search) ? mayBeBeyondAscii : (place: Place) => hasAscii(place, search);
  all.push(sql`(${sql.join(places.map(found), sql` or `)})`);
  return sql.join(all, sql` and `);
}

type Place = RawBuilder<unknown>;

/** Folds ASCII only, which is much faster than the rules of a language: `words` has nothing else. */
function hasAscii(place: Place, words: string): RawBuilder<unknown> {
  return sql`strpos(lower(${place} collate "C"), ${foldText(words)}) > 0`;
}

function mayBeBeyondAscii(place: Place): RawBuilder<unknown> {
  return sql`(octet_length(${place}) > length(${place}) or strpos(lower(${place} collate "C"), 'xn--') > 0)`;
}
