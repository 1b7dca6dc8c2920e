// The targets of unproxied ANAME records, and what is published for them. A transaction that publishes such a record
// locks its target's row until its commit: either it has seen the result of the last lookup, or the worker that saves
// that result sees the record. Until a target is known, a name keeps its addresses, because resolvers would cache an
// empty answer for long.

import { type RawBuilder, sql } from 'kysely';
import {
  type AnameFinding,
  type AnameFindingCode,
  anameFindings,
} from '../../checks/aname/aname-findings.ts';
import { foldCase, type Name, parseName } from '../../dns/name.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { type FlattenedTarget, flattenedTarget } from '../../zone/publish/publish.ts';
import type { RecordValue } from '../../zone/records/customer-record.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';

/** Encodes a target as in its column: like a record's `destination`, in lower case. */
export function encodeTarget(target: Name): string {
  return printWithoutDot(foldCase(target));
}

export function decodeTarget(text: string): Name {
  return parseName(`${text}.`);
}

/** Condition of records `r` that are published with their target's addresses. An index has the same condition. */
export const IS_FLATTENED = sql`r.type = 'ANAME' and not r.proxied`;
export const TARGET_OF_RECORD = sql`lower(r.destination collate "C")`;

/**
 * Returns what is published for the unproxied ANAME records, by name. Each list holds all records of one or several
 * names. The zone is the one in which they are published.
 */
export type FlattenedOf = (
  db: Database,
  zoneId: number | null,
  records: Iterable<readonly RecordValue[]>,
) => Promise<ReadonlyMap<Name, FlattenedTarget>>;

/** Loads the addresses without locks. */
export const loadFlattened: FlattenedOf = async (db, zoneId, records) => {
  const targets = targetsIn(records);
  if (targets.size === 0) return NONE;
  return await flatten(db, zoneId, targets, await selectRows(db, textsOf(targets), sql``));
};

/** Loads the addresses to publish. The rows stay locked until the transaction ends. A new target is due immediately. */
export const lockFlattened: FlattenedOf = async (trx, zoneId, records) => {
  const targetsByName = targetsIn(records);
  const targets = textsOf(targetsByName);
  for (;;) {
    if (targets.length === 0) return NONE;
    const rows = await selectRows(trx, targets, sql`for share`);
    if (rows.length === targets.length) return await flatten(trx, zoneId, targetsByName, rows);
    await sql`
      insert into aname_targets (target, due_at) select t, clock_timestamp() from unnest(${targets}::text[]) as t
      on conflict (target) do nothing`.execute(trx); // an unused target may be purged between the two statements
  }
};

export async function loadTargetsNamed(
  db: Database,
  targets: readonly Name[],
): Promise<ReadonlyMap<Name, FlattenedTarget>> {
  return decodeRows(await selectRows(db, targets.map(encodeTarget), sql``));
}

const NONE: ReadonlyMap<Name, FlattenedTarget> = new Map();

/** Returns the targets by the name of the ANAME record. */
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

/** Returns the targets' texts in the order in which all transactions lock them. */
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

interface AddressRow {
  readonly owner: string;
  readonly type: number;
  readonly ttl: number;
  readonly rdata: Buffer;
}

/** Loads the addresses that nodes have at these names. */
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

/** Decodes rows. Omits targets that were never known, because they have no TTL. */
function decodeRows(rows: readonly TargetRow[]): Map<Name, FlattenedTarget> {
  const seen = rows.flatMap(({ target, v4, v6, ttl }): [Name, FlattenedTarget][] =>
    ttl === null && (v4 === null || v6 === null)
      ? []
      : [[decodeTarget(target), { v4: v4 ?? [], v6: v6 ?? [], ttl: ttl ?? 0 }]],
  );
  return new Map(seen);
}

export interface ProblemRow {
  readonly target: string;
  readonly code: AnameFindingCode;
}

/** Maximum number of problems that are read. The message names only a few of them. */
const MAX_PROBLEMS = 100;

/** True if a family has addresses that its zone has not removed. */
const HAS_ADDRESSES = (family: 'v4' | 'v6') =>
  sql`(cardinality(t.${sql.ref(`${family}_addresses`)}) > 0 and t.${sql.ref(`${family}_gone_at`)} is null)`;

const CODE = sql`case t.failure when 'loop' then 'ANAME_LOOP' else
  case when t.failure is not null then 'ANAME_TARGET_FAILS' else 'ANAME_TARGET_EMPTY' end end`;

/** Records `r` whose target `t` has a problem. */
const RECORDS_WITH_PROBLEM = sql`records r join aname_targets t on t.target = ${TARGET_OF_RECORD}
  where ${IS_FLATTENED} and t.checked_at is not null
    and (t.failure is not null or (${HAS_ADDRESSES('v4')} or ${HAS_ADDRESSES('v6')}) is not true)`;

/** The problems of the domain `d`, as JSON; null if there are none. */
export const ANAME_PROBLEMS = sql<readonly ProblemRow[] | null>`(
  select json_agg(json_build_object('target', w.target, 'code', w.code) order by w.target) from (
    select distinct t.target, ${CODE} as code from ${RECORDS_WITH_PROBLEM} and r.domain_id = d.id and d.served <> 'none'
    limit ${MAX_PROBLEMS}) w)`;

/** Selects the ids of the domains with a record that has this problem, whether or not they are served. */
export function idsWithProblem(code: AnameFindingCode): RawBuilder<unknown> {
  return sql`select r.domain_id from ${RECORDS_WITH_PROBLEM} and ${CODE} = ${code}`;
}

/**
 * Returns the problems of the targets of a domain's ANAME records. They are derived when the domain is read, so that a
 * failing target requires no write to the thousands of domains that use it.
 */
export function findingsOf(problems: readonly ProblemRow[] | null): AnameFinding[] {
  return anameFindings((problems ?? []).map(({ target, code }) => ({ target: decodeTarget(target), code })));
}
