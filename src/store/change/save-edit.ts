// The only way to write records: lock the domain → load what the edit touches → plan → write records, published
// records, serial and change in one transaction. An edit that changes nothing writes nothing.

import { DatabaseError } from 'pg';
import { GATES, judgeGate } from '../../billing/gates.ts';
import { isWildcard, type Name, ROOT } from '../../dns/name.ts';
import type { Network } from '../../dns/record/network.ts';
import { inPieces } from '../../process/in-pieces.ts';
import type { EditItem } from '../../zone/edit/draft.ts';
import {
  type Edit,
  type EditList,
  type EditProblem,
  idsTouched,
  type NewRecord,
} from '../../zone/edit/edit.ts';
import { planEditInPieces, type RecordOperation } from '../../zone/edit/plan-edit.ts';
import type { SavedOperation } from '../../zone/edit/plan-revert.ts';
import type { CountryOf } from '../../zone/records/country.ts';
import type { CustomerRecord, RecordValue } from '../../zone/records/customer-record.ts';
import { wireTypeCode } from '../../zone/records/customer-types.ts';
import { namesBetween } from '../../zone/records/record-name.ts';
import { namesBeside } from '../../zone/warnings/edit-warnings.ts';
import type { ZoneWarning } from '../../zone/warnings/zone-warning.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { planOf } from '../domains/domain-row.ts';
import type { Database } from '../postgres/database.ts';
import { allowLong, LONG_ROWS } from '../postgres/deadlines.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { loadRecordsAt, loadRecordsWithIds, loadTouchedRecords } from '../records/load-touched-records.ts';
import { allocateRecordIds, recordsWritten } from '../records/record-row.ts';
import { warnOfEdit } from '../records/warn-of-edit.ts';
import { findWrongOrigins } from '../rules/edge-rules.ts';
import { rulesWithout } from '../rules/load-rules.ts';
import type { WrittenRule } from '../rules/rule.ts';
import { writeRules } from '../rules/write-rules.ts';
import { type Ahead, type DomainLock, isGone, type LoadedAhead, lockDomain } from './lock-domain.ts';
import { findManagedIds } from './publish-zone.ts';
import { writeDomainChange } from './write-domain-change.ts';

/** Loads records of a domain under its lock. */
export interface LockedDomain {
  readonly trx: Database;
  /** Serial before the edit. */
  readonly serial: number;
  /** Loads all records at these names, except managed ones. */
  recordsAt(names: readonly Name[]): Promise<CustomerRecord[]>;
  recordsWithIds(ids: readonly number[]): Promise<CustomerRecord[]>;
}

interface EditProblems {
  readonly kind: 'problems';
  readonly problems: readonly EditProblem[];
}

/** An edit, with data that was loaded under the lock to make it and need not be loaded again. */
interface LoadedEdit extends LoadedAhead {
  readonly kind: 'loaded';
  readonly edit: Edit;
  /** All records at these names and at the apex are loaded. */
  readonly names: readonly Name[];
}

/** Makes an edit that depends on the current records. */
export type EditMaker = (locked: LockedDomain) => Promise<Edit | LoadedEdit | EditProblems>;

export interface EditOrder extends ChangedBy {
  readonly domainId: number;
  /** The owner when the caller's rights were checked. The rights do not apply under another owner. */
  readonly ownerId?: number;
  readonly edit: Edit | EditMaker;
  /** Lets the names above the records be loaded together with the lock, which saves a round trip. */
  readonly near?: {
    readonly apex: Name;
    /** Names of the records that the edit updates or deletes, as far as they are known without the lock. */
    readonly owners: readonly Name[];
  };
  /** Receives all problems of the edit. Returns a smaller edit to try instead, or undefined if nothing is left. */
  readonly without?: (problems: readonly EditProblem[]) => Edit | undefined;
  readonly dryRun?: boolean;
  readonly reverts?: number;
  /** Changes to rules in the same change. */
  readonly rules?: readonly WrittenRule[];
  /** Fills `dest_country` where the edit does not set it. */
  readonly countryOf?: CountryOf | undefined;
  /** Networks in which proxied origins may be although they are not public. If undefined, origins are not validated. */
  readonly originAllow?: readonly Network[];
  /** True if the caller requests warnings about the records. */
  readonly warns?: boolean;
  /** True if the domain may be a copy of a primary. Its own records are written, although they are not served. */
  readonly ofCopy?: boolean;
  /** Called when the commit is sent. Not called inside the caller's transaction. */
  readonly onCommit?: (() => void) | undefined;
  /** Runs at the end of the transaction, even if the edit was refused. */
  readonly settle?: (trx: Database, saved: SavedEdit) => Promise<void>;
}

/** A saved operation and the edit item that caused it. `item` is undefined if only the TTL of the record's set changed. */
type SavedEditOperation = SavedOperation & { readonly item?: EditItem };

export type SavedEdit =
  | {
      readonly kind: 'saved';
      readonly changeId: number;
      readonly serial: number;
      readonly recordCount: number;
      readonly ops: readonly SavedEditOperation[];
      readonly warnings: readonly ZoneWarning[];
    }
  | {
      readonly kind: 'unchanged';
      readonly serial: number;
      readonly recordCount: number;
      readonly warnings: readonly ZoneWarning[];
    }
  | {
      readonly kind: 'dry_run';
      readonly ops: readonly RecordOperation[];
      readonly recordCount: number;
      readonly warnings: readonly ZoneWarning[];
    }
  | EditProblems
  /** The domain is a copy, or was deleted, switched off or transferred since the caller loaded it. */
  | {
      readonly kind: 'refused';
      readonly code: 'not_found' | 'domain_disabled' | 'domain_banned' | 'domain_secondary';
      readonly message: string;
    };

const COPIED_RECORDS =
  'the records of the domain are copied from its primary: change them there, or remove the primaries first';

export async function saveEdit(db: Database, order: EditOrder): Promise<SavedEdit> {
  let listed: EditProblem | undefined;
  try {
    const work = async (trx: Database) => {
      const saved = await lockAndSave(trx, order, (edit) => {
        listed = conflictOf(edit);
      });
      await order.settle?.(trx, saved);
      return saved;
    };
    return await inTransaction(db, work, order.onCommit);
  } catch (error) {
    // The planner enforces the same rules as the constraints. A violation means that data changed without the planner.
    if (!isConstraintViolation(error) || listed === undefined) throw error;
    return { kind: 'problems', problems: [{ ...listed, message: (error as DatabaseError).message }] };
  }
}

async function lockAndSave(
  trx: Database,
  order: EditOrder,
  onEdit: (edit: Edit) => void,
): Promise<SavedEdit> {
  const ahead = aheadFor(order);
  const lock = await lockDomain(trx, order.domainId, ahead);
  if (lock === undefined || isGone(lock, order)) {
    return { kind: 'refused', code: 'not_found', message: 'the domain was deleted or transferred' };
  }
  const { status } = lock.row;
  if (status === 'disabled' || status === 'banned') {
    return { kind: 'refused', code: `domain_${status}`, message: `the domain is ${status}` };
  }
  if (lock.row.isCopy && order.ofCopy !== true)
    return { kind: 'refused', code: 'domain_secondary', message: COPIED_RECORDS };
  const made = typeof order.edit === 'function' ? await order.edit(lockedDomain(trx, lock.row)) : order.edit;
  const save = async (edit: Edit, locked: DomainLock, names: readonly Name[] = []) => {
    if (countItems(edit) >= LONG_ROWS) await allowLong(trx);
    onEdit(edit);
    return await saveUnderLock(trx, locked, edit, { ...order, names });
  };
  if (!('kind' in made)) return await save(made, lock, ahead?.names);
  return made.kind === 'problems' ? made : await save(made.edit, { ...lock, ahead: made }, made.names);
}

function lockedDomain(trx: Database, { id: domainId, serial }: DomainLock['row']): LockedDomain {
  return {
    trx,
    serial,
    recordsAt: async (names) =>
      (await loadRecordsAt(trx, domainId, names)).filter(({ managed }) => managed !== true),
    recordsWithIds: (ids) => loadRecordsWithIds(trx, domainId, ids),
  };
}

async function saveUnderLock(
  trx: Database,
  lock: DomainLock,
  edit: Edit,
  order: EditOrder & { readonly names: readonly Name[] },
): Promise<SavedEdit> {
  const { row, settings, ahead } = lock;
  const apex = decodeNameColumn(row.name);
  const ids = idsTouched(edit);
  const found = ahead?.touched;
  const hasTouched = found !== undefined;
  const known = ahead && { names: [...order.names, apex], records: ahead.records, hasTouched };
  const records = await loadTouchedRecords(trx, row.id, apex, edit, known);
  const entitlements = planOf(row);
  const state = {
    apex,
    records,
    recordCount: row.recordCount,
    plan: {
      records: (count: number) => judgeGate(GATES.records, entitlements, count),
      hostHeader: () => judgeGate(GATES.host_header, entitlements),
    },
    edges: settings.edges,
    managedIds: found ? new Set(found.managed) : await findManagedIds(trx, row.id, ids),
    countryOf: order.countryOf,
  };
  const plan = async (tried: Edit) => {
    const plan = await inPieces(planEditInPieces(state, tried));
    if (plan.kind === 'problems' || order.originAllow === undefined) return plan;
    return (await findWrongOrigins(trx, plan.ops, state.edges, order.originAllow)) ?? plan;
  };
  let planned = await plan(edit);
  while (planned.kind === 'problems') {
    const smaller = order.without?.(planned.problems);
    if (smaller === undefined) break;
    planned = await plan(smaller); // touches only a part of what the whole edit touches
  }
  if (planned.kind === 'problems') return planned;
  const { recordCount, touched } = planned;
  const unnamed = found?.isNamed === false ? hostsOf(records, ids) : NO_NAMES;
  const judged = { domainId: row.id, apex, ops: planned.ops, records, known: order.names, unnamed };
  const warnings = order.warns ? await warnOfEdit(trx, judged) : [];
  if (order.dryRun) return { kind: 'dry_run', ops: planned.ops, recordCount, warnings };
  if (planned.ops.length === 0) return { kind: 'unchanged', serial: row.serial, recordCount, warnings };
  const ops = await finishOperations(trx, planned.ops, lock.now.toISOString(), ahead?.ids);
  const gone = ops.flatMap(({ op, before }) => (op === 'delete' && before ? [before.id] : []));
  const mayHaveRules = found?.hasRules === false ? gone.filter((id) => !ids.includes(id)) : gone;
  const rules = [...(order.rules ?? []), ...(await rulesWithout(trx, row.id, mayHaveRules))];
  if (rules.length > 0) await writeRules(trx, row.id, rules, lock.now);
  const written = await writeDomainChange(trx, lock, {
    by: order.by,
    rules: rules.map(({ operation }) => operation),
    source: order.source,
    operation: 'edit',
    ops,
    ...(order.reverts !== undefined && { reverts: order.reverts }),
    served: row.served,
    recordCount,
    records: recordsWritten(row.id, ops),
    publish: recordsAfter(records, ops, [...touched, apex]),
    newNames: namesWithout(records, touched, apex),
  });
  return { kind: 'saved', ...written, recordCount, ops, warnings };
}

const AHEAD_ITEMS = 16;

/** Returns undefined if the edit is large or not known yet. Its data is then loaded step by step. */
function aheadFor({ edit, dryRun, warns, near }: EditOrder): Ahead | undefined {
  if (typeof edit === 'function' || countItems(edit) > AHEAD_ITEMS) return undefined;
  const moved = edit.updates.flatMap(({ set: { name } }) => name ?? []);
  const names = new Set([...edit.creates, ...edit.replaces].map(({ name }) => name).concat(moved));
  if (near) {
    for (const name of near.owners) names.add(name);
    for (const name of [...names]) for (const above of namesBetween(name, near.apex)) names.add(above);
  }
  if (warns) for (const record of edit.creates) for (const name of namesToWarnOf(record)) names.add(name);
  const created = edit.creates.filter(({ restores }) => restores === undefined).length;
  return { names: [...names], touched: idsTouched(edit), ids: dryRun ? 0 : created };
}

const NO_NAMES: ReadonlySet<Name> = new Set();

/** Returns the names of the records with these ids. A wildcard also stands for the hosts that it matches. */
function hostsOf(records: readonly CustomerRecord[], ids: readonly number[]): ReadonlySet<Name> {
  return new Set(records.flatMap(({ id, name }) => (ids.includes(id) && !isWildcard(name) ? [name] : [])));
}

/** May return names above the domain, whose name is not known yet. They have no records in the domain. */
function namesToWarnOf({ name: owner, type, rdata }: NewRecord): Iterable<Name> {
  return type === 'ANAME' ? [] : namesBeside({ owner, type: wireTypeCode(type), rdata }, ROOT);
}

/** Assigns ids to created records in the order of the edit, and the time to written ones. */
async function finishOperations(
  trx: Database,
  ops: readonly RecordOperation[],
  at: string,
  allocated: readonly number[] = [],
): Promise<SavedEditOperation[]> {
  const wanting = ops.filter((op) => op.op === 'create' && op.restores === undefined).length;
  const more = await allocateRecordIds(trx, Math.max(0, wanting - allocated.length));
  const ids = [...allocated, ...more].values();
  return ops.map((op): SavedEditOperation => {
    const by = op.item === undefined ? {} : { item: op.item };
    if (op.op === 'delete') return { op: 'delete', before: op.before, ...by };
    if (op.op === 'update') {
      return { op: 'update', before: op.before, after: { ...op.after, updatedAt: at }, ...by };
    }
    const { id, createdAt } = op.restores ?? { id: ids.next().value as number, createdAt: at };
    return { op: 'create', after: createdRecord(op.after, id, createdAt, at), item: op.item as EditItem };
  });
}

/** Names each field, because spreading is slow and imports are long. */
function createdRecord(value: RecordValue, id: number, createdAt: string, updatedAt: string): CustomerRecord {
  const { name, type, rdata, ttl, proxied, captcha, scheme, port, hostHeader } = value;
  const { monitor, destCountry, timeout, comment } = value;
  return {
    id,
    name,
    type,
    rdata,
    ttl,
    proxied,
    captcha,
    scheme,
    port,
    hostHeader,
    monitor,
    destCountry,
    timeout,
    comment,
    createdAt,
    updatedAt,
  };
}

/** Returns the names without records, except the apex, which always has some. */
function namesWithout(records: readonly CustomerRecord[], names: readonly Name[], apex: Name): Set<Name> {
  const without = new Set(names);
  without.delete(apex);
  for (const { name } of records) without.delete(name);
  return without;
}

/** Returns all current records of each name. `before` has all former ones. */
function recordsAfter(
  before: readonly CustomerRecord[],
  ops: readonly SavedEditOperation[],
  names: readonly Name[],
): Map<Name, CustomerRecord[]> {
  const records = new Map(before.map((record) => [record.id, record]));
  for (const op of ops) {
    if (op.before !== undefined) records.delete(op.before.id);
    if (op.op === 'update' && op.after !== undefined) records.set(op.after.id, op.after);
  }
  const byName = new Map<Name, CustomerRecord[]>(names.map((name) => [name, []]));
  for (const record of records.values()) byName.get(record.name)?.push(record);
  for (const { op, after } of ops) if (op === 'create' && after) byName.get(after.name)?.push(after);
  return byName;
}

function countItems({ creates, updates, replaces, deletes }: Edit): number {
  const inSets = replaces.reduce((count, { records }) => count + records.length, 0);
  return creates.length + updates.length + deletes.length + inSets;
}

/** Converts a constraint violation to a conflict at the first item of the edit. */
function conflictOf(edit: Edit): EditProblem {
  const lists: readonly [EditList, readonly { readonly index?: number }[]][] = [
    ['create', edit.creates],
    ['update', edit.updates],
    ['replace', edit.replaces],
    ['delete', edit.deletes],
  ];
  const [list, items] = lists.find(([, items]) => items.length > 0) ?? (['create', []] as const);
  return { list, index: items[0]?.index ?? 0, code: 'conflict', message: '' };
}

const INTEGRITY_CONSTRAINT_VIOLATION = '23';

function isConstraintViolation(error: unknown): boolean {
  return error instanceof DatabaseError && (error.code ?? '').startsWith(INTEGRITY_CONSTRAINT_VIOLATION);
}
