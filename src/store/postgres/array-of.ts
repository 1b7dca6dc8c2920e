// An array as a parameter of a statement. Of a short one Postgres must not see the length when it plans: else it expects
// fewer rows than a plan for any values does, finds the plan for these values cheaper, and plans a prepared statement anew
// each time. The plan of a long array depends on its length.

import { type RawBuilder, sql } from 'kysely';
import { MAX_ARRAY_ITEMS } from './prepared-statements.ts';

const TYPES = {
  bigint: sql`::bigint[]`,
  boolean: sql`::boolean[]`,
  bytea: sql`::bytea[]`,
  integer: sql`::integer[]`,
  text: sql`::text[]`,
  timestamptz: sql`::timestamptz[]`,
};

export function arrayOf<T>(
  type: keyof typeof TYPES,
  items: readonly T[],
  read: (item: T) => unknown = (item) => item,
): RawBuilder<unknown> {
  const values = items.map(read);
  if (values.length > MAX_ARRAY_ITEMS) return sql`${values}${TYPES[type]}`;
  return sql`(select ${values}${TYPES[type]})`;
}
