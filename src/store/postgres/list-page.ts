// Pages of long lists. A page starts after the sort key and id of the previous page's last row, so that an index finds
// it without counting rows.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from './database.ts';

export interface Page {
  readonly limit: number;
  readonly cursor?: string;
  readonly offset?: number;
}

export interface Paged<T> {
  readonly items: readonly T[];
  /** Undefined on the last page. */
  readonly cursor: string | undefined;
  /** The cursor of the previous page. Undefined on the first page and for lists that only go forward. */
  readonly previous?: string | undefined;
}

/** The cursor does not belong to this list. */
export class CursorError extends Error {
  override readonly name = 'CursorError';
}

export interface SortKey {
  readonly expression: RawBuilder<unknown>;
  readonly type: 'text' | 'timestamptz';
}

interface Order<S extends string> {
  readonly sort: S;
  readonly descending: boolean;
}

interface PageSql {
  /** Limits the rows to those after the cursor, or before it. */
  readonly behind: RawBuilder<unknown>;
  readonly direction: RawBuilder<unknown>;
}

/** `id` orders rows with equal keys. A page before its cursor is selected in reverse, and reversed by `toPage`. */
export function pageSql<S extends string>(
  { sort, descending }: Order<S>,
  key: SortKey,
  id: RawBuilder<unknown>,
  cursor: string | undefined,
): PageSql {
  const directionOf = (descends: boolean) => (descends ? sql`desc` : sql`asc`);
  if (cursor === undefined) return { behind: sql`true`, direction: directionOf(descending) };
  const last = decodeCursor(cursor, sort, descending, key.type);
  const value = key.type === 'text' ? sql`${last.key}::text` : sql`${last.key}::timestamptz`;
  const descends = descending !== isBackward(cursor);
  const sign = descends ? sql`<` : sql`>`;
  return {
    behind: sql`(${key.expression}, ${id}) ${sign} (${value}, ${last.id}::bigint)`,
    direction: directionOf(descends),
  };
}

/** A page of a log, which is ordered by id. */
export interface LogPage {
  readonly limit: number;
  /** The id of the previous page's last row. */
  readonly behind?: number | undefined;
  readonly offset?: number;
  readonly descending: boolean;
}

export function logSql(
  id: RawBuilder<unknown>,
  { behind, descending }: LogPage,
): { readonly behind: RawBuilder<unknown>; readonly order: RawBuilder<unknown> } {
  const sign = descending ? sql`<` : sql`>`;
  return {
    behind: behind === undefined ? sql`true` : sql`${id} ${sign} ${behind}`,
    order: descending ? sql`${id} desc` : sql`${id}`,
  };
}

/** SQL condition: the text contains `words`, ignoring case (of non-ASCII letters only if the database folds them). */
export function contains(text: RawBuilder<unknown>, words: string): RawBuilder<unknown> {
  return sql`(strpos(lower(${text}), ${words.toLowerCase()}) > 0 or strpos(${text}, ${words}) > 0)`;
}

/** Builds the page of at most `limit` rows. `rows` has one more if there is another page. */
export function toPage<R extends { readonly id: number; readonly sortKey: string }, S extends string, T>(
  rows: readonly R[],
  { limit, cursor, offset = 0 }: Page,
  order: Order<S>,
  decode: (row: R) => T,
): Paged<T> {
  const isBack = isBackward(cursor);
  const page = isBack ? rows.slice(0, limit).reverse() : rows.slice(0, limit);
  const isMore = rows.length > limit;
  const [first, last] = [page[0], page.at(-1)];
  const hasPrevious = isBack ? isMore : cursor !== undefined || offset > 0;
  return {
    items: page.map(decode),
    cursor: last !== undefined && (isBack || isMore) ? cursorAfter(order, last) : undefined,
    previous:
      first !== undefined && hasPrevious
        ? encodeCursor([order.sort, order.descending, first.sortKey, first.id, BACK])
        : undefined,
  };
}

/** Returns the cursor of the page after this row. */
export function cursorAfter<S extends string>(
  { sort, descending }: Order<S>,
  { sortKey, id }: { readonly sortKey: string; readonly id: number },
): string {
  return encodeCursor([sort, descending, sortKey, id]);
}

const BACK = 'back';
/** The last row of the previous page or, with `back`, the first row of the next one. */
type Cursor = [sort: string, descending: boolean, key: string, id: number, back?: typeof BACK];

function encodeCursor(cursor: Cursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** Returns true if the page is before the cursor's row. */
export function isBackward(cursor: string | undefined): boolean {
  const read = cursor === undefined ? undefined : readCursor(cursor);
  return Array.isArray(read) && read[4] === BACK;
}

function readCursor(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return undefined;
  }
}

const TIMESTAMP =
  /^(infinity|(?!0000)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?[+-](0\d|1[0-5])(:[0-5]\d){0,2})$/;

function decodeCursor(
  text: string,
  sort: string,
  descending: boolean,
  type: SortKey['type'],
): { key: string; id: number } {
  const fault = new CursorError('the cursor does not belong to this list');
  const cursor = readCursor(text);
  if (!Array.isArray(cursor) || cursor.length < 4 || cursor.length > 5) throw fault;
  const [ofSort, ofDescending, key, id, back] = cursor as unknown[];
  if (cursor.length === 5 && back !== BACK) throw fault;
  if (ofSort !== sort || ofDescending !== descending) throw fault;
  if (typeof key !== 'string' || key.includes('\0') || !Number.isSafeInteger(id)) throw fault;
  if (type === 'timestamptz' && !isTimestamp(key)) throw fault;
  return { key, id: id as number };
}

/** Returns true if Postgres can parse it as a time. A client can send any cursor. */
function isTimestamp(key: string): boolean {
  if (!TIMESTAMP.test(key)) return false;
  if (key === 'infinity') return true;
  const text = key.slice(0, 19).replace(' ', 'T');
  const at = new Date(`${text}Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** Limit for counts, whose cost grows with the number of rows. Beyond it, one more than this is returned. */
const MOST_COUNTED = 10_000;

/** Counts the rows of `from`, such as `tickets t where …`. */
export async function countUpTo(
  db: Database,
  from: RawBuilder<unknown>,
  most = MOST_COUNTED,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (select from ${from} limit ${most + 1}) counted`.execute(db);
  return rows[0]?.count ?? 0;
}

const STREAM_ROWS = 500;

/** Streams all pages, holding one in memory. */
export async function* streamPages<T>(load: (page: Page) => Promise<Paged<T>>): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    const page: Paged<T> = await load({ limit: STREAM_ROWS, ...(cursor !== undefined && { cursor }) });
    yield* page.items;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
