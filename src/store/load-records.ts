// A domain's records as its customers see them, with the service's own NS at the apex.

import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../dns/name.ts';
import type { CustomerRecord } from '../zone/customer-record.ts';
import type { ApiType } from '../zone/record-types.ts';
import type { Database } from './database.ts';
import { contains, type Page, type Paged, pageSql, type SortKey, streamPages, toPage } from './list-page.ts';
import { encodeNameColumn } from './name-column.ts';
import { decodeRecord, RECORD_COLUMNS, type RecordRow } from './record-row.ts';

export interface ListedRecord extends CustomerRecord {
  /** Not to be edited: the service's. */
  readonly managed: boolean;
}

export const RECORD_SORTS = ['name', 'type', 'updated_at'] as const;
export type RecordSort = (typeof RECORD_SORTS)[number];

export interface RecordFilter {
  readonly name?: Name;
  readonly types?: readonly ApiType[];
  readonly proxied?: boolean;
  /** In the relative name, destination, comment. */
  readonly search?: string;
}

export interface RecordOrder {
  readonly sort: RecordSort;
  readonly descending: boolean;
}

type ListedRow = RecordRow & { readonly managed: boolean };

function decodeListed({ managed, ...row }: ListedRow): ListedRecord {
  return { ...decodeRecord(row), managed };
}

export async function loadRecord(
  db: Database,
  domainId: number,
  id: number,
): Promise<ListedRecord | undefined> {
  return (await loadRecords(db, domainId, [id]))[0];
}

/** Those of them that the domain has, in the order of ids. */
export async function loadRecords(
  db: Database,
  domainId: number,
  ids: readonly number[],
): Promise<ListedRecord[]> {
  const { rows } = await sql<ListedRow>`
    select ${RECORD_COLUMNS}, r.managed from records r
    where r.id = any(${ids}::bigint[]) and r.domain_id = ${domainId} order by r.id`.execute(db);
  return rows.map(decodeListed);
}

const SORT_KEYS: Readonly<Record<RecordSort, SortKey>> = {
  name: { expression: sql`r.name`, type: 'text' },
  type: { expression: sql`r.type`, type: 'text' },
  updated_at: { expression: sql`r.updated_at`, type: 'timestamptz' },
};

/** Throws `CursorError`. */
export async function listRecords(
  db: Database,
  domainId: number,
  filter: RecordFilter,
  order: RecordOrder,
  { limit, cursor, offset = 0 }: Page,
): Promise<Paged<ListedRecord>> {
  const key = SORT_KEYS[order.sort];
  const { behind, direction } = pageSql(order, key, sql`r.id`, cursor);
  const { rows } = await sql<ListedRow & { sortKey: string }>`
    select ${RECORD_COLUMNS}, r.managed, ${key.expression}::text as "sortKey" from records r
    where ${conditions(domainId, filter)} and ${behind}
    order by ${key.expression} ${direction}, r.id ${direction}
    offset ${offset} limit ${limit + 1}`.execute(db);
  return toPage(rows, limit, order, ({ sortKey: _, ...row }) => decodeListed(row));
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
  const { rows } = await sql<{ count: number }>`
    select count(*) from records r where ${conditions(domainId, filter)}`.execute(db);
  return rows[0]?.count ?? 0;
}

function conditions(domainId: number, { name, types, proxied, search }: RecordFilter): RawBuilder<unknown> {
  const all = [sql`r.domain_id = ${domainId}`];
  if (name !== undefined) all.push(sql`r.name = ${encodeNameColumn(name)}`);
  if (types !== undefined) all.push(sql`r.type = any(${types}::text[])`);
  if (proxied !== undefined) all.push(sql`r.proxied = ${proxied}`);
  if (search !== undefined && search !== '') {
    // Without the domain's own name, which each of them ends in.
    const relative = sql`(select case when r.name = d.name then '@'
      else left(r.name, length(r.name) - length(d.name) - 1) end from domains d where d.id = r.domain_id)`;
    const places = [relative, sql`r.destination`, sql`coalesce(r.comment, '')`];
    all.push(
      sql`(${sql.join(
        places.map((place) => contains(place, search)),
        sql` or `,
      )})`,
    );
  }
  return sql.join(all, sql` and `);
}
