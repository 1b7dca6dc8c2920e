// Determines which statements a pool or a connection prepares: those that it repeats. Postgres then plans them once per
// connection, and planning is most of the cost of a small statement. Statements with large arrays are excluded, because
// their plans depend on the length.

import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { type ArrayType, encodeArray } from './binary-array.ts';

const PREPARED_FROM_USES = 8;
const MAX_PREPARED = 100;
const MAX_KNOWN = 1000;
/** Longer arrays are sent in binary. */
export const MAX_ARRAY_ITEMS = 64;

const FEATURE_NOT_SUPPORTED = '0A000';
const UNKNOWN_STATEMENT = '26000';
const DUPLICATE_STATEMENT = '42P05';

export class PreparedStatements {
  readonly #known = new Map<string, { uses: number; name: string | undefined }>();
  #prepared = 0;
  #isPreparing = true;

  /** Returns the name to prepare the statement with. Undefined if it must not be prepared. */
  nameOf(text: string, values: readonly unknown[]): string | undefined {
    if (!this.#isPreparing || !values.every(isSmall)) return undefined;
    let statement = this.#known.get(text);
    if (statement === undefined) {
      if (this.#known.size >= MAX_KNOWN) return undefined; // filtered lists have many texts, each used rarely
      statement = { uses: 0, name: undefined };
      this.#known.set(text, statement);
    }
    statement.uses++;
    if (
      statement.name === undefined &&
      statement.uses >= PREPARED_FROM_USES &&
      this.#prepared < MAX_PREPARED
    ) {
      this.#prepared++;
      statement.name = nameFor(text);
    }
    return statement.name;
  }

  /**
   * Call it for every failed statement. Behind a pooler that switches connections between transactions, prepared
   * statements are unknown, and a changed table can invalidate a plan. From then on nothing is prepared.
   */
  noteFailure(error: unknown): void {
    const { code, message } = error as { code?: string; message?: string };
    const isPlanUseless = code === FEATURE_NOT_SUPPORTED && message?.includes('cached plan') === true;
    if (code === UNKNOWN_STATEMENT || code === DUPLICATE_STATEMENT || isPlanUseless)
      this.#isPreparing = false;
  }
}

const NAME_DIGITS = 16;

/**
 * Returns the statement's name: a digest of its text, the same in all processes. Behind a pooler, a connection may have
 * statements that other processes prepared.
 */
function nameFor(text: string): string {
  return `zonefleet_${createHash('sha256').update(text).digest('hex').slice(0, NAME_DIGITS)}`;
}

const longArrays = new WeakSet<object>();

function isSmall(value: unknown): boolean {
  if (value instanceof Buffer) return !longArrays.has(value);
  return !Array.isArray(value) || value.length <= MAX_ARRAY_ITEMS;
}

const TYPES: Readonly<Record<ArrayType, RawBuilder<unknown>>> = {
  bigint: sql`::bigint[]`,
  boolean: sql`::boolean[]`,
  bytea: sql`::bytea[]`,
  integer: sql`::integer[]`,
  text: sql`::text[]`,
  timestamptz: sql`::timestamptz[]`,
};

/**
 * Returns an array as a parameter of a statement. Postgres must not see the length of a short array when it plans:
 * otherwise it expects fewer rows than in a generic plan, finds the specific plan cheaper, and plans a prepared
 * statement again each time. The plan of a long array depends on its length.
 */
export function arrayOf<T>(
  type: ArrayType,
  items: readonly T[],
  read: (item: T) => unknown = (item) => item,
): RawBuilder<unknown> {
  if (items.length > MAX_ARRAY_ITEMS) return longArray(type, items, read);
  return sql`(select ${items.map(read)}${TYPES[type]})`;
}

function longArray<T>(type: ArrayType, items: readonly T[], read: (item: T) => unknown): RawBuilder<unknown> {
  const array = encodeArray(type, items, read);
  longArrays.add(array);
  return sql`${array}${TYPES[type]}`;
}

export interface Column<T> {
  readonly name: string;
  readonly type: ArrayType;
  readonly read: (row: T) => unknown;
}

const SCALARS: Readonly<Record<ArrayType, RawBuilder<unknown>>> = {
  bigint: sql`::bigint`,
  boolean: sql`::boolean`,
  bytea: sql`::bytea`,
  integer: sql`::integer`,
  text: sql`::text`,
  timestamptz: sql`::timestamptz`,
};

/**
 * Returns rows as a table expression. In a long list, a column with the same value in all rows is sent as one value,
 * except the first column.
 */
export function tableOf<T>(rows: readonly T[], columns: readonly Column<T>[]): RawBuilder<unknown> {
  const names: string[] = [];
  const arrays: RawBuilder<unknown>[] = [];
  const same: RawBuilder<unknown>[] = [];
  for (const { name, type, read } of columns) {
    if (rows.length > MAX_ARRAY_ITEMS) {
      const first = read(rows[0] as T) ?? null;
      if (names.length > 0 && rows.every((row) => (read(row) ?? null) === first)) {
        same.push(sql`, ${first}${SCALARS[type]} as ${sql.ref(name)}`);
        continue;
      }
      arrays.push(longArray(type, rows, read));
    } else {
      arrays.push(arrayOf(type, rows, read));
    }
    names.push(name);
  }
  return sql`(select t.*${sql.join(same, sql``)} from unnest(${sql.join(arrays)}) as t(${sql.join(names.map((name) => sql.ref(name)))}))`;
}

/**
 * Returns a number as a parameter whose value Postgres does not see when it plans. For domains of different sizes, it would
 * otherwise plan a prepared statement again each time.
 */
export function unseen(value: number): RawBuilder<number> {
  return sql`(select ${value}::bigint)`;
}
