// Plans an edit and validates its result: returns a change that leaves the domain's records valid, or all problems.
// Every write uses it: create, update, delete, batch, revert, import.
//
//     edit → draft (each item alone) → one TTL per set → conflicts of the result → plan → operations

import type { Name } from '../../dns/name.ts';
import { type CustomerRecord, type RecordValue, sameValue } from '../records/customer-record.ts';
import { type ApiType, DEFAULT_TTL_SECONDS } from '../records/customer-types.ts';
import { type DraftState, draftEditInPieces, type EditItem, PIECE_ITEMS, type Row } from './draft.ts';
import type { Edit, EditProblem, EditProblemCode, PlanRefusal } from './edit.ts';
import { findConflicts } from './find-conflicts.ts';

export interface EditState extends DraftState {
  /** At least the records that `namesTouched`, `formerHosts` and `possibleGlue` request. Additional records have no effect. */
  readonly records: readonly CustomerRecord[];
  /** Number of records before the edit, without managed ones. */
  readonly recordCount: number;
  /** The plan's refusal of this many records, or of a custom host header. Undefined if allowed. */
  readonly plan: {
    readonly records: (count: number) => PlanRefusal | undefined;
    readonly hostHeader: () => PlanRefusal | undefined;
  };
}

/**
 * `item` is the item of the edit that caused it. It is absent if the record changed only because the TTL of its set changed.
 */
export type RecordOperation =
  | {
      readonly op: 'create';
      readonly after: RecordValue;
      /** Values of the row that is restored. */
      readonly restores?: { readonly id: number; readonly createdAt: string };
      readonly item?: EditItem;
    }
  | {
      readonly op: 'update';
      readonly before: CustomerRecord;
      /** The record after the operation, still with the old `updatedAt`. */
      readonly after: CustomerRecord;
      readonly item?: EditItem;
    }
  | { readonly op: 'delete'; readonly before: CustomerRecord; readonly item?: EditItem };

export type Planned =
  | {
      readonly kind: 'change';
      /** Deletes, updates, then creates in the order of the edit. Empty if nothing changes. */
      readonly ops: readonly RecordOperation[];
      /** The names whose published records may change. */
      readonly touched: readonly Name[];
      readonly recordCount: number;
    }
  | { readonly kind: 'problems'; readonly problems: readonly EditProblem[] };

/** The order of the kinds of problems. Only those of the first kind that occurs are reported. */
const PRECEDENCE: readonly EditProblemCode[] = [
  'not_found',
  'invalid',
  'plan_feature',
  'plan_limit',
  'managed',
  'conflict',
];

/** Yields every few milliseconds during large edits, so that the caller can do other work. */
export function* planEditInPieces(state: EditState, edit: Edit): Generator<undefined, Planned> {
  const draft = yield* draftEditInPieces(state, edit);
  const { rows } = draft;
  const isLarge = rows.length > PIECE_ITEMS;
  if (isLarge) yield;
  settleTtls(rows);
  if (isLarge) yield;
  const ops = listOperations(rows);
  const recordCount = ops.reduce((count, { op }) => count + GROWTH[op], state.recordCount);
  const problems = [...draft.problems, ...judgePlan(state, recordCount, rows)];
  // the result of a draft with bad items is meaningless
  if (problems.length === 0) problems.push(...(yield* findConflicts(rows, state.apex)));
  if (problems.length > 0) {
    const first = PRECEDENCE.find((code) => problems.some((problem) => problem.code === code));
    return { kind: 'problems', problems: problems.filter(({ code }) => code === first) };
  }
  const touched = new Set<Name>();
  for (const op of ops) {
    if (op.op !== 'create') touched.add(op.before.name);
    if (op.op !== 'delete') touched.add(op.after.name);
  }
  return { kind: 'change', ops, touched: [...touched], recordCount };
}

const GROWTH = { create: 1, update: 0, delete: -1 } as const;

/** An edit that adds nothing is allowed, even without a plan or above its limit. */
function judgePlan(state: EditState, recordCount: number, rows: readonly Row[]): EditProblem[] {
  const problems: EditProblem[] = [];
  if (recordCount > state.recordCount) {
    const refused = state.plan.records(recordCount);
    const { list, index } = rows.find((row) => row.before === undefined)?.item as EditItem;
    if (refused !== undefined) problems.push({ ...refused, list, index });
  }
  const withHeader = rows.filter(setsHostHeader);
  const refused = withHeader.length > 0 ? state.plan.hostHeader() : undefined;
  if (refused === undefined) return problems;
  for (const { item } of withHeader) {
    const { list, index, path } = item as EditItem;
    problems.push({ ...refused, list, index, field: `${path}host_header` });
  }
  return problems;
}

/** An existing host header may stay, and may always be removed. */
function setsHostHeader({ before, after, item }: Row): boolean {
  const header = after?.hostHeader ?? null;
  return item !== undefined && header !== null && header !== (before?.hostHeader ?? null);
}

/**
 * All records of a set get one TTL (RFC 2181 §5.2). A given TTL that differs from the set's own is used; if there are
 * several, the lowest. Otherwise the TTL comes from records that remain, then from records that move in from another
 * set, then from the previous set.
 */
function settleTtls(rows: readonly Row[]): void {
  const byName = new Map<Name, Row[]>();
  for (const row of rows) {
    const { before, after } = row;
    if (after !== undefined) push(byName, after.name, row);
    if (before !== undefined && before.name !== after?.name) push(byName, before.name, row);
  }
  for (const [name, atName] of byName) {
    const [first] = atName;
    // The usual case in an import: the TTL of a new set of one record is determined already.
    if (atName.length === 1 && first?.before === undefined) continue;
    settleTtlsAt(name, atName);
  }
}

/** `rows` are all that have or had this name. */
function settleTtlsAt(name: Name, rows: readonly Row[]): void {
  const previous = new Map<ApiType, number>();
  const sets = new Map<ApiType, Row[]>();
  const written = new Set<ApiType>();
  for (const row of rows) {
    const { before, after, item } = row;
    if (before?.name === name) previous.set(before.type, before.ttl);
    if (after?.name !== name) continue;
    push(sets, after.type, row);
    if (item !== undefined) written.add(after.type);
  }
  for (const [type, set] of sets) {
    if (!written.has(type)) continue;
    const ttl = settledTtl(set, name, type, previous.get(type));
    for (const row of set) {
      const after = row.after as RecordValue;
      if (after.ttl !== ttl) row.after = { ...after, ttl };
    }
  }
}

function settledTtl(set: readonly Row[], name: Name, type: ApiType, previous: number | undefined): number {
  let stays = false;
  let moved: number | undefined;
  for (const { before } of set) {
    if (before === undefined) continue;
    if (before.name === name && before.type === type) stays = true;
    else moved = Math.min(before.ttl, moved ?? before.ttl);
  }
  const own = stays ? previous : (moved ?? previous);
  let given: number | undefined;
  for (const { explicitTtl: ttl } of set) {
    if (ttl !== undefined && ttl !== own) given = Math.min(ttl, given ?? ttl);
  }
  return given ?? own ?? DEFAULT_TTL_SECONDS;
}

function push<K>(map: Map<K, Row[]>, key: K, row: Row): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [row]);
  else list.push(row);
}

function listOperations(rows: readonly Row[]): RecordOperation[] {
  const deletes: RecordOperation[] = [];
  const updates: RecordOperation[] = [];
  const creates: RecordOperation[] = [];
  for (const { before, after, item, restores } of rows) {
    const by = item === undefined ? {} : { item };
    if (before === undefined) {
      if (after === undefined) continue;
      if (restores === undefined && item !== undefined) creates.push({ op: 'create', after, item });
      else creates.push({ op: 'create', after, ...(restores !== undefined && { restores }), ...by });
    } else if (after === undefined) {
      deletes.push({ op: 'delete', before, ...by });
    } else if (!sameValue(before, after)) {
      updates.push({ op: 'update', before, after: { ...before, ...after }, ...by });
    }
  }
  return [...deletes, ...updates, ...creates];
}
