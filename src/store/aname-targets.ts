// The targets of unproxied ANAME records and what is published of them. Whoever publishes such a record holds its target's row
// until its commit: then either it has seen what the last look-up brought, or the worker that saves that sees the record.
// Until a target was seen a name keeps the addresses that it is served with: resolvers would keep "none" for long.

import { type RawBuilder, sql } from 'kysely';
import { foldCase, type Name, parseName } from '../dns/name.ts';
import { printRdata } from '../dns/rdata.ts';
import { TYPE } from '../dns/type-codes.ts';
import type { RecordValue } from '../zone/customer-record.ts';
import { printWithoutDot } from '../zone/name-text.ts';
import { type FlattenedTarget, flattenedTarget } from '../zone/publish.ts';
import type { Database } from './database.ts';
import { decodeNameColumn, encodeNameColumn } from './name-column.ts';

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

/**
 * What is published of the unproxied ANAME among these records, by its name. Each list is all of one name or of several; the
 * zone is the one that they are published in.
 */
export type FlattenedOf = (
  db: Database,
  zoneId: number | null,
  records: Iterable<readonly RecordValue[]>,
) => Promise<ReadonlyMap<Name, FlattenedTarget>>;

/** To look at. */
export const loadFlattened: FlattenedOf = async (db, zoneId, records) => {
  const targets = targetsIn(records);
  if (targets.size === 0) return NONE;
  return await flatten(db, zoneId, targets, await selectRows(db, textsOf(targets), sql``));
};

/** To publish: the rows stay as they are until the transaction's end, and a target that is new is due at once. */
export const lockFlattened: FlattenedOf = async (trx, zoneId, records) => {
  const targetsByName = targetsIn(records);
  const targets = textsOf(targetsByName);
  for (;;) {
    if (targets.length === 0) return NONE;
    const rows = await selectRows(trx, targets, sql`for share`);
    if (rows.length === targets.length) return await flatten(trx, zoneId, targetsByName, rows);
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

/** By the name that has it. */
function targetsIn(records: Iterable<readonly RecordValue[]>): Map<Name, Name> {
  const targets = new Map<Name, Name>();
  for (const list of records) {
    for (const record of list) {
      const target = flattenedTarget([record]);
      if (target !== undefined) targets.set(record.name, target);
    }
  }
  return targets;
}

/** In one order for all who lock them. */
function textsOf(targets: ReadonlyMap<Name, Name>): string[] {
  return [...new Set([...targets.values()].map(encodeTarget))].sort();
}

async function flatten(
  db: Database,
  zoneId: number | null,
  targets: ReadonlyMap<Name, Name>,
  rows: readonly TargetRow[],
): Promise<Map<Name, FlattenedTarget>> {
  const seen = decodeRows(rows);
  const flattened = new Map<Name, FlattenedTarget>();
  const held = new Map<Name, { v4: string[]; v6: string[]; ttl: number }>();
  for (const [name, target] of targets) {
    const addresses = seen.get(target);
    if (addresses !== undefined) flattened.set(name, addresses);
  }
  const unseen = [...targets.keys()].filter((name) => !flattened.has(name));
  for (const { owner, type, ttl, rdata } of await loadAddresses(db, zoneId, unseen)) {
    const name = decodeNameColumn(owner);
    const at = held.get(name) ?? { v4: [], v6: [], ttl };
    at[type === TYPE.A ? 'v4' : 'v6'].push(printRdata(type, rdata));
    held.set(name, { ...at, ttl: Math.min(ttl, at.ttl) });
  }
  return new Map<Name, FlattenedTarget>([...flattened, ...held]);
}

export interface AddressRow {
  readonly owner: string;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: Buffer;
}

/** That nodes have at these names. */
export async function loadAddresses(
  db: Database,
  zoneId: number | null,
  names: readonly Name[],
): Promise<AddressRow[]> {
  if (zoneId === null || names.length === 0) return [];
  const { rows } = await sql<AddressRow>`
    select owner, type, ttl, rdata from zone_records
    where zone_id = ${zoneId} and owner = any(${names.map(encodeNameColumn)}::text[])
      and type in (${TYPE.A}, ${TYPE.AAAA}) and not removed
    order by owner, type, rdata`.execute(db);
  return rows;
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

/** Without those that were never seen, be it without addresses: then there is no TTL. */
function decodeRows(rows: readonly TargetRow[]): Map<Name, FlattenedTarget> {
  const seen = rows.flatMap(({ target, v4, v6, ttl }): [Name, FlattenedTarget][] =>
    ttl === null && (v4 === null || v6 === null)
      ? []
      : [[decodeTarget(target), { v4: v4 ?? [], v6: v6 ?? [], ttl: ttl ?? 0 }]],
  );
  return new Map(seen);
}
