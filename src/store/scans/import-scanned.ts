// Imports what a scan found into a domain, under its lock: only names and types without existing records. A record set
// is imported completely or not at all. Conflicting sets are left out, and the others are imported.

import { sql } from 'kysely';
import type { Scan, ScannedRecord } from '../../checks/scan/scan.ts';
import type { Name } from '../../dns/name.ts';
import { typeMnemonic } from '../../dns/type-codes.ts';
import {
  type Edit,
  type EditProblem,
  type NewRecord,
  NO_EDIT,
  type PlanRefusal,
} from '../../zone/edit/edit.ts';
import { judgeNarrowedWrite, type KeyNarrowing } from '../../zone/edit/key-narrowing.ts';
import type { CountryOf } from '../../zone/records/country.ts';
import { setKey } from '../../zone/records/customer-record.ts';
import { type ApiType, isApiType } from '../../zone/records/customer-types.ts';
import type { Actor } from '../accounts/actor.ts';
import { type EditMaker, saveEdit } from '../change/save-edit.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';

export interface ScannedImport {
  readonly domainId: number;
  /** See `saveEdit`. */
  readonly ownerId?: number;
  /** The records from `planImport`. */
  readonly records: readonly {
    readonly name: Name;
    readonly type: number;
    readonly ttl: number;
    readonly rdata: Uint8Array;
  }[];
  readonly by: Actor;
  readonly narrowing: KeyNarrowing | null;
  readonly dryRun?: boolean;
  /** See `saveEdit`. */
  readonly countryOf?: CountryOf | undefined;
}

export interface FailedRecord {
  readonly name: Name;
  readonly type: ApiType;
  readonly error: string;
}

type ImportRefusal =
  | 'not_found'
  | 'domain_disabled'
  | 'domain_banned'
  | 'domain_secondary'
  /** The API key is restricted to other records. */
  | 'forbidden'
  | PlanRefusal['code'];

export type ImportedScan =
  | {
      readonly kind: 'imported';
      readonly created: number;
      readonly failed: readonly FailedRecord[];
      /** Number of records left out because the domain has records of their name and type. */
      readonly present: number;
      /** Undefined if nothing was written. */
      readonly changeId: number | undefined;
    }
  /** Nothing was written. */
  | {
      readonly kind: 'refused';
      readonly code: ImportRefusal;
      readonly message: string;
      readonly limit?: number;
    };

export async function importScanned(db: Database, order: ScannedImport): Promise<ImportedScan> {
  const { domainId, by, narrowing, countryOf, dryRun = false } = order;
  const wanted = order.records.map(asNewRecord);
  const failed: FailedRecord[] = [];
  let creates: readonly NewRecord[] = [];
  let forbidden: string | undefined;
  const edit: EditMaker = async ({ recordsAt }) => {
    const there = await recordsAt([...new Set(wanted.map(({ name }) => name))]);
    const held = new Set(there.map(({ name, type }) => setKey(name, type)));
    creates = wanted.filter(({ name, type }) => !held.has(setKey(name, type)));
    forbidden = narrowing === null ? undefined : judgeNarrowedWrite(narrowing, creates);
    return forbidden === undefined ? { ...NO_EDIT, creates } : { kind: 'problems', problems: [] };
  };
  let left: readonly NewRecord[] | undefined;
  const without = (problems: readonly EditProblem[]): Edit | undefined => {
    const smaller = leaveOut(left ?? creates, problems);
    if (smaller === undefined) return undefined;
    left = smaller.left;
    failed.push(...smaller.failed);
    return { ...NO_EDIT, creates: left };
  };
  const owned = order.ownerId === undefined ? {} : { ownerId: order.ownerId };
  const saved = await saveEdit(db, {
    ...owned,
    domainId,
    by,
    source: 'scan',
    edit,
    without,
    dryRun,
    countryOf,
  });
  if (forbidden !== undefined) return { kind: 'refused', code: 'forbidden', message: forbidden };
  if (saved.kind === 'refused') return { kind: 'refused', code: saved.code, message: saved.message };
  if (saved.kind === 'problems') return refusedBy(saved.problems);
  return {
    kind: 'imported',
    created: saved.kind === 'unchanged' ? 0 : saved.ops.filter(({ op }) => op === 'create').length,
    failed,
    present: wanted.length - creates.length,
    changeId: saved.kind === 'saved' ? saved.changeId : undefined,
  };
}

function asNewRecord(
  { name, type, ttl, rdata }: ScannedImport['records'][number],
  index: number,
): NewRecord & { readonly index: number } {
  const mnemonic = typeMnemonic(type);
  if (!isApiType(mnemonic)) throw new Error(`${mnemonic} is not a type of customer records`);
  return { name, type: mnemonic, ttl, rdata, index };
}

/** Leaves out the sets with a problem. Returns undefined if the problem does not concern single records. */
function leaveOut(
  records: readonly NewRecord[],
  problems: readonly EditProblem[],
): { left: readonly NewRecord[]; failed: readonly FailedRecord[] } | undefined {
  if (problems.some(({ code }) => code !== 'conflict' && code !== 'invalid')) return undefined;
  const byIndex = new Map(records.map((record) => [record.index, record]));
  const errors = new Map<string, string>();
  for (const { index, message } of problems) {
    const record = byIndex.get(index);
    if (record !== undefined) errors.set(keyOf(record), message);
  }
  if (errors.size === 0) return undefined;
  const gone = records.filter((record) => errors.has(keyOf(record)));
  return {
    left: records.filter((record) => !errors.has(keyOf(record))),
    failed: gone.map((record) => {
      const { name, type } = record;
      return { name, type, error: errors.get(keyOf(record)) as string };
    }),
  };
}

function keyOf({ name, type }: NewRecord): string {
  return setKey(name, type);
}

function refusedBy(problems: readonly EditProblem[]): ImportedScan {
  const [first] = problems as [EditProblem];
  const { code, message, limit } = first;
  if (code !== 'plan_limit') throw new Error(`an import: ${message}`);
  return { kind: 'refused', code, message, ...(limit !== undefined && { limit }) };
}

/** Imports again what a scan found. A repeated call, identified by its request, finds its result in the scan's row. */
export async function importFound(
  db: Database,
  scanId: number,
  order: ScannedImport,
  request: string | undefined,
): Promise<ImportedScan> {
  return await inTransaction(db, async (trx) => {
    const imported = await importScanned(trx, order);
    if (request === undefined || imported.kind === 'refused') return imported;
    await sql`
      update scans set request = ${request}::uuid, kind = 'manual', imports = true, actor = ${JSON.stringify(order.by)},
        result = ${JSON.stringify(encodeResult(imported))}, change_id = ${imported.changeId ?? null}
      where id = ${scanId}`.execute(trx);
    return imported;
  });
}

/** All records that exist, whether or not they can be imported. */
export interface FoundByScan {
  readonly records: readonly ScannedRecord[];
  readonly wildcards: readonly Name[];
}

export interface JsonFound {
  /** Each record is name, type, TTL and rdata in hexadecimal. */
  readonly records: readonly (readonly [string, number, number, string])[];
  readonly wildcards: readonly string[];
}

export function encodeFound({ records, wildcards }: Pick<Scan, 'records' | 'wildcards'>): JsonFound {
  return {
    records: records.map(({ name, type, ttl, rdata }) => [
      encodeNameColumn(name),
      type,
      ttl,
      Buffer.from(rdata).toString('hex'),
    ]),
    wildcards: wildcards.map(encodeNameColumn),
  };
}

export function decodeFound({ records, wildcards }: JsonFound): FoundByScan {
  return {
    records: records.map(([name, type, ttl, rdata]) => ({
      name: decodeNameColumn(name),
      type,
      ttl,
      rdata: Uint8Array.from(Buffer.from(rdata, 'hex')),
    })),
    wildcards: wildcards.map(decodeNameColumn),
  };
}

type Imported = Extract<ImportedScan, { kind: 'imported' }>;

export type JsonResult =
  | (Omit<Imported, 'failed' | 'changeId'> & {
      readonly failed: readonly { readonly name: string; readonly type: ApiType; readonly error: string }[];
    })
  | Extract<ImportedScan, { kind: 'refused' }>;

/** Encodes the result without its change, which has its own column. */
export function encodeResult(imported: ImportedScan): JsonResult {
  if (imported.kind === 'refused') return imported;
  const { changeId: _, failed, ...rest } = imported;
  return { ...rest, failed: failed.map((each) => ({ ...each, name: encodeNameColumn(each.name) })) };
}

export function decodeResult(result: JsonResult, changeId: number | null): ImportedScan {
  if (result.kind === 'refused') return result;
  const failed = result.failed.map((each) => ({ ...each, name: decodeNameColumn(each.name) }));
  return { ...result, failed, changeId: changeId ?? undefined };
}
