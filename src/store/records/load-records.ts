// Loads a domain's records as customers see them, including the service's own NS records at the apex.

import { setImmediate } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import { type CustomerRecord, setKey } from '../../zone/records/customer-record.ts';
import type { ApiType } from '../../zone/records/customer-types.ts';
import { printDestination } from '../../zone/records/destination.ts';
import { foldText, foldWithLabels, isAscii } from '../../zone/records/fold-text.ts';
import type { Database } from '../postgres/database.ts';
import {
  CursorError,
  cursorAfter,
  isBackward,
  type Page,
  type Paged,
  pageSql,
  type SortKey,
  streamPages,
  toPage,
} from '../postgres/list-page.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { unseen } from '../postgres/prepared-statements.ts';
import { type RecordColumns, rowsOf, selectColumns } from './record-columns.ts';
import { decodeRecord, RECORD_JSON, type RecordJson } from './record-row.ts';

export interface ListedRecord extends CustomerRecord {
  /** True if the record belongs to the service and cannot be edited. */
  readonly managed: boolean;
}

export const RECORD_SORTS = ['name', 'type', 'updated_at'] as const;
type RecordSort = (typeof RECORD_SORTS)[number];

export interface RecordFilter {
  readonly name?: Name;
  readonly types?: readonly ApiType[];
  readonly proxied?: boolean;
  readonly managed?: boolean;
  /** Text in the relative name, destination or comment, ignoring case. A-labels are also searched in Unicode. */
  readonly search?: string;
}

export interface RecordOrder {
  readonly sort: RecordSort;
  readonly descending: boolean;
}

export function decodeListed(json: RecordJson): ListedRecord {
  return Object.assign(decodeRecord(json), { managed: json[8] });
}

export async function loadRecord(
  db: Database,
  domainId: number,
  id: number,
): Promise<ListedRecord | undefined> {
  const { rows } = await sql<{ record: RecordJson }>`
    select ${RECORD_JSON} as record from records r
    where r.id = ${id} and r.domain_id = ${domainId}`.execute(db);
  const [row] = rows;
  return row === undefined ? undefined : decodeListed(row.record);
}

interface RecordKey extends SortKey {
  /** Returns the sort key of a loaded record. */
  readonly of: (record: RecordJson) => string;
}

const SORT_KEYS: Readonly<Record<RecordSort, RecordKey>> = {
  name: { expression: sql`r.name`, type: 'text', of: (record) => record[1] },
  type: { expression: sql`r.type`, type: 'text', of: (record) => record[2] },
  updated_at: {
    expression: sql`r.updated_at`,
    type: 'timestamptz',
    of: (record) => `${(record[7] ?? record[6]).replace('T', ' ')}+00`,
  },
};

/** Lists a page, as columns or as rows. Throws `CursorError` if the cursor is invalid. */
export async function listRecords(
  db: Database,
  domainId: number,
  filter: RecordFilter,
  order: RecordOrder,
  page: Page,
): Promise<RecordPage> {
  if (isBackward(page.cursor)) throw new CursorError('records cannot be listed backward');
  const matches = await matcherBeyondSql(db, domainId, filter);
  if (matches === undefined) return await selectPage(db, domainId, filter, order, page);
  const rows = await matchRows(candidates(db, domainId, filter, order, page.cursor), matches, page);
  const sorted = rows.map((row) => ({ id: row[0], sortKey: SORT_KEYS[order.sort].of(row), row }));
  return toPage(sorted, page, order, ({ row }) => row);
}

export interface RecordPage {
  readonly items: RecordColumns | readonly RecordJson[];
  readonly cursor: string | undefined;
}

/** Lists rows for `decodeListed`. */
export async function listRecordRows(...list: Parameters<typeof listRecords>): Promise<Paged<RecordJson>> {
  const { items, cursor } = await listRecords(...list);
  return { items: 'ids' in items ? rowsOf(items) : items, cursor };
}

async function selectPage(
  db: Database,
  domainId: number,
  filter: RecordFilter,
  order: RecordOrder,
  { limit, cursor, offset = 0 }: Page,
): Promise<{ readonly items: RecordColumns; readonly cursor: string | undefined }> {
  const key = SORT_KEYS[order.sort];
  const { behind, direction } = pageSql(order, key, sql`r.id`, cursor);
  // One more record shows if there is another page.
  const { rows } = await selectColumns(sql`
    select r.* from records r where ${conditions(domainId, filter)} and ${behind}
    order by ${key.expression} ${direction}, r.id ${direction}
    ${offset === 0 ? sql`` : sql`offset ${offset}`} limit ${unseen(limit + 1)}`).execute(db);
  const columns = rows[0] as RecordColumns;
  if (columns.count <= limit) return { items: columns, cursor: undefined };
  const last = {
    id: Number(wordAt(columns.ids, limit - 1)),
    sortKey: sortKeyAt(columns, order.sort, limit - 1),
  };
  return { items: { ...columns, count: limit }, cursor: cursorAfter(order, last) };
}

function sortKeyAt(columns: RecordColumns, sort: RecordSort, index: number): string {
  if (sort === 'updated_at') return SORT_KEYS.updated_at.of(rowsOf(columns)[index] as RecordJson);
  return wordAt(sort === 'name' ? columns.names : columns.types, index);
}

function wordAt(column: string, index: number): string {
  return column.split(' ')[index] as string;
}

/** Selects the rows of the page that match, and one more if there is another page. */
async function matchRows(
  rows: AsyncIterable<RecordJson>,
  matches: Matcher,
  { limit, offset = 0 }: Page,
): Promise<RecordJson[]> {
  const found: RecordJson[] = [];
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
): AsyncGenerator<RecordJson> {
  return streamPages(async ({ limit, cursor = from }) => {
    const page = { limit, ...(cursor !== undefined && { cursor }) };
    const { items, cursor: next } = await selectPage(db, domainId, filter, order, page);
    return { items: rowsOf(items), cursor: next };
  });
}

type Matcher = (record: RecordJson) => boolean;

/** Returns undefined if SQL can decide. The database does not compare letters beyond ASCII and A-labels (see `foldText`). */
async function matcherBeyondSql(
  db: Database,
  domainId: number,
  { search }: RecordFilter,
): Promise<Matcher | undefined> {
  if (!isBeyondAscii(search)) return undefined;
  const words = foldText(search);
  const domain = await db.selectFrom('domains').select('name').where('id', '=', domainId).executeTakeFirst();
  const apexLength = domain?.name.length ?? 0;
  return (json) => {
    const { type, rdata, comment } = decodeRecord(json);
    const relative = json[1].slice(0, json[1].length - apexLength);
    const { destination } = printDestination(type, rdata);
    return [relative, destination, comment ?? ''].some((place) => foldWithLabels(place).includes(words));
  };
}

function isBeyondAscii(search: string | undefined): search is string {
  return search !== undefined && !isAscii(foldText(search));
}

/** A column of this many of the largest records (`MAX_SET_OCTETS`) is shorter than 512 MiB, the longest string of V8. */
const EXPORTED_AT_ONCE = 1000;

/**
 * Passes all records as of one moment to `onPage`, sorted by name and id, except managed records. Loads the next page while
 * `onPage` runs.
 */
export async function readOwnRecords(
  db: Database,
  domainId: number,
  onPage: (columns: RecordColumns) => void,
): Promise<void> {
  const load = (trx: Database, cursor?: string) => {
    const page = { limit: EXPORTED_AT_ONCE, ...(cursor !== undefined && { cursor }) };
    return selectPage(trx, domainId, { managed: false }, { sort: 'name', descending: false }, page);
  };
  await db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      for (let loading: ReturnType<typeof load> | undefined = load(trx); loading !== undefined; ) {
        const { items, cursor }: Awaited<typeof loading> = await loading;
        loading = cursor === undefined ? undefined : load(trx, cursor);
        loading?.catch(() => {}); // awaited in the next round, unless `onPage` throws
        await setImmediate(); // the statement is sent
        onPage(items);
      }
    });
}

export function streamRecords(
  db: Database,
  domainId: number,
  filter: RecordFilter,
  order: RecordOrder,
): AsyncGenerator<ListedRecord> {
  return streamPages(async (page) => {
    const { items, cursor } = await listRecordRows(db, domainId, filter, order, page);
    return { items: items.map(decodeListed), cursor };
  });
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

/** Loads the keys of the domain's record sets (`setKey`), without managed records. */
export async function loadSetKeys(db: Database, domainId: number): Promise<Set<string>> {
  const { rows } = await sql<{ name: string; type: ApiType }>`
    select distinct r.name, r.type from records r where r.domain_id = ${domainId} and not r.managed`.execute(
    db,
  );
  return new Set(rows.map(({ name, type }) => setKey(decodeNameColumn(name), type)));
}

function conditions(domainId: number, filter: RecordFilter): RawBuilder<unknown> {
  const { name, types, proxied, managed, search } = filter;
  const all = [sql`r.domain_id = ${unseen(domainId)}`];
  if (name !== undefined) all.push(sql`r.name = ${encodeNameColumn(name)}`);
  if (types !== undefined) all.push(sql`r.type = any(${types}::text[])`);
  if (proxied !== undefined) all.push(sql`r.proxied = ${proxied}`);
  if (managed !== undefined) all.push(sql`r.managed = ${managed}`);
  if (search === undefined || search === '') return sql.join(all, sql` and `);
  // Searches relative names, because every name ends in the domain's own, whose length is read once.
  const apexOctets = sql`(select length(d.name) from domains d where d.id = ${domainId})`;
  const relative = sql`case when length(r.name) = ${apexOctets} then '@' else left(r.name, -1 - ${apexOctets}) end`;
  const texts = [sql`r.destination`, sql`r.comment`];
  const found = isBeyondAscii(search)
    ? [relative, ...texts].map(mayBeBeyondAscii)
    : [isInName(relative, foldText(search)), ...texts.map((text) => hasAscii(text, foldText(search)))];
  all.push(sql`(${sql.join(found, sql` or `)})`);
  return sql.join(all, sql` and `);
}

type Place = RawBuilder<unknown>;

/** Folds only ASCII, which is much faster than the rules of a language. `words` has no other letters. */
function hasAscii(place: Place, words: string): RawBuilder<unknown> {
  const folded = /[a-z]/.test(words) ? sql`lower(${place} collate "C")` : sql`${place} collate "C"`;
  return sql`strpos(${folded}, ${words}) > 0`;
}

/** Names are already folded. The relative name is computed only if the whole name contains the words. */
function isInName(relative: Place, words: string): RawBuilder<unknown> {
  const inRelative = sql`strpos(${relative} collate "C", ${words}) > 0`;
  return words === '@' ? inRelative : sql`(strpos(r.name collate "C", ${words}) > 0 and ${inRelative})`;
}

function mayBeBeyondAscii(place: Place): RawBuilder<unknown> {
  return sql`(octet_length(${place}) > length(${place}) or strpos(lower(${place} collate "C"), 'xn--') > 0)`;
}
