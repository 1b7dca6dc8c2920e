// The targets of unproxied ANAME records and what is published of them. Whoever publishes such a record holds its target's row
// until its commit: then either it has seen what the last look-up brought, or the worker that saves that sees the record.

import { type RawBuilder, sql } from 'kysely';
import { foldCase, type Name, parseName } from '../dns/name.ts';
import type { RecordValue } from '../zone/customer-record.ts';
import { printWithoutDot } from '../zone/name-text.ts';
import { type FlattenedTarget, flattenedTarget } from '../zone/publish.ts';
import type { Database } from './database.ts';

/** A target as it stands in its column: as a record's `destination`, in lower case. */
export function encodeTarget(target: Name): string {
  return printWithoutDot(foldCase(target));
}

export function decodeTarget(text: string): Name {
  return parseName(`${text}.`);
}

/** True of the record `r`: it is published with its target's addresses. As in the index. */
export const IS_FLATTENED = sql`r.type = 'ANAME' and not r.proxied`;
/** The target of the record `r`. */
export const TARGET_OF_RECORD = sql`lower(r.destination collate "C")`;

/** By target, each list of records being all of one name or of several. */
export type TargetsOf = (
  db: Database,
  records: Iterable<readonly RecordValue[]>,
) => Promise<ReadonlyMap<Name, FlattenedTarget>>;

/** To look at. */
export const loadTargets: TargetsOf = async (db, records) => {
  const targets = targetsIn(records);
  return targets.length === 0 ? NONE : decodeRows(await selectRows(db, targets, sql``));
};

/** To publish: the rows stay as they are until the transaction's end, and a target that is new is due at once. */
export const lockTargets: TargetsOf = async (trx, records) => {
  const targets = targetsIn(records);
  for (;;) {
    if (targets.length === 0) return NONE;
    const rows = await selectRows(trx, targets, sql`for share`);
    if (rows.length === targets.length) return decodeRows(rows);
    await sql`
      insert into aname_targets (target, due_at) select t, clock_timestamp() from unnest(${targets}::text[]) as t
      on conflict (target) do nothing`.execute(trx); // one that nobody needed may go between the two
  }
};

export async function loadTargetsNamed(
  db: Database,
  targets: readonly Name[],
): Promise<ReadonlyMap<Name, FlattenedTarget>> {
  return decodeRows(await selectRows(db, targets.map(encodeTarget), sql``));
}

const NONE: ReadonlyMap<Name, FlattenedTarget> = new Map();

/** In one order for all who lock them. */
function targetsIn(records: Iterable<readonly RecordValue[]>): string[] {
  const targets = new Set<string>();
  for (const list of records) {
    for (const record of list) {
      const target = flattenedTarget([record]);
      if (target !== undefined) targets.add(encodeTarget(target));
    }
  }
  return [...targets].sort();
}

interface TargetRow {
  readonly target: string;
  readonly v4: string[] | null;
  readonly v6: string[] | null;
  readonly ttl: number | null;
}

async function selectRows(
  db: Database,
  targets: readonly string[],
  lock: RawBuilder<unknown>,
): Promise<TargetRow[]> {
  const { rows } = await sql<TargetRow>`
    select target, v4_addresses as v4, v6_addresses as v6, ttl from aname_targets
    where target = any(${targets}::text[]) order by target ${lock}`.execute(db);
  return rows;
}

/** Without those that were never seen. */
function decodeRows(rows: readonly TargetRow[]): Map<Name, FlattenedTarget> {
  const seen = rows.flatMap(({ target, v4, v6, ttl }): [Name, FlattenedTarget][] =>
    ttl === null ? [] : [[decodeTarget(target), { v4: v4 ?? [], v6: v6 ?? [], ttl }]],
  );
  return new Map(seen);
}
