// Judges an edit by its result: gives a change that leaves the domain's records valid, or everything that is wrong with
// it. Every write goes through here: create, update, delete, batch, revert, import.
//
//     edit → draft (each item alone) → one TTL per set → conflicts of the result → plan → operations

import type { Name } from '../../dns/name.ts';
import { type CustomerRecord, type RecordValue, sameValue, setKey } from '../records/customer-record.ts';
import { DEFAULT_TTL_SECONDS } from '../records/customer-types.ts';
import { type DraftState, draftEditInPieces, type EditItem, PIECE_ITEMS, type Row } from './draft.ts';
import type { Edit, EditProblem, EditProblemCode, PlanRefusal } from './edit.ts';
import { findConflicts } from './find-conflicts.ts';

export interface EditState extends DraftState {
  /** At least what `namesTouched`, `formerHosts` and `possibleGlue` ask for; more changes nothing. */
  readonly records: readonly CustomerRecord[];
  /** The number of records before the edit, without managed ones. */
  readonly recordCount: number;
  /** What the domain's plan says to so many records, and to a host header of one's own. Undefined: it allows that. */
  readonly plan: {
    readonly records: (count: number) => PlanRefusal | undefined;
    readonly hostHeader: () => PlanRefusal | undefined;
  };
}

/** `item` is the item of the edit that asked for it; a record that only follows its set's TTL has none. */
export type RecordOperation =
  | {
      readonly op: 'create';
      readonly after: RecordValue;
      /** What the row that comes back had. */
      readonly restores?: { readonly id: number; readonly createdAt: string };
      readonly item?: EditItem;
    }
  | {
      readonly op: 'update';
      readonly before: CustomerRecord;
      /** The record after the operation, with the old `updatedAt`. */
      readonly after: CustomerRecord;
      readonly item?: EditItem;
    }
  | { readonly op: 'delete'; readonly before: CustomerRecord; readonly item?: EditItem };

export type Planned =
  | {
      readonly kind: 'change';
      /** Deletes, updates, creates; none when everything is as it was. Creates are in the order of the edit. */
      readonly ops: readonly RecordOperation[];
      /** The names whose published records may differ. */
      readonly touched: readonly Name[];
      readonly recordCount: number;
    }
  | { readonly kind: 'problems'; readonly problems: readonly EditProblem[] };

/** The order of the kinds of problems: only those of the first kind that occurs are reported. */
const PRECEDENCE: readonly EditProblemCode[] = [
  'not_found',
  'invalid',
  'plan_feature',
  'plan_limit',
  'managed',
  'conflict',
];

/** A generator, for large edits: between two pieces of some milliseconds the caller can do other work. */
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
  // a draft with bad items has no meaningful result
  if (problems.length === 0) problems.push(...(yield* findConflicts(rows, state.apex)));
  if (problems.length > 0) {
    const first = PRECEDENCE.find((code) => problems.some((problem) => problem.code === code));
    return { kind: 'problems', problems: problems.filter(({ code }) => code === first) };
  }
  const touched = new Set(ops.flatMap((op) => [...namesOf(op)]));
  return { kind: 'change', ops, touched: [...touched], recordCount };
}

const GROWTH = { create: 1, update: 0, delete: -1 } as const;

/** An edit that adds nothing is allowed, even without a plan and beyond its limit. */
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

/** A host header that is there already stays, and may always be taken away. */
function setsHostHeader({ before, after, item }: Row): boolean {
  const header = after?.hostHeader ?? null;
  return item !== undefined && header !== null && header !== (before?.hostHeader ?? null);
}

/**
 * RFC 2181 §5.2. A TTL that was given and is not the set's own wins, of several the lowest. Without one, records that
 * stay decide, then records that come from another set, then the set that was there before.
 */
function settleTtls(rows: readonly Row[]): void {
  const previous = new Map<string, number>();
  const written = new Set<string>();
  const sets = new Map<string, Row[]>();
  for (const { before } of rows) if (before !== undefined) previous.set(keyOf(before), before.ttl);
  for (const row of rows)
    if (row.after !== undefined && row.item !== undefined) written.add(keyOf(row.after));
  for (const row of rows) {
    if (row.after === undefined || !written.has(keyOf(row.after))) continue;
    const set = sets.get(keyOf(row.after));
    if (set === undefined) sets.set(keyOf(row.after), [row]);
    else set.push(row);
  }
  for (const [key, set] of sets) {
    const ttl = settledTtl(set, key, previous.get(key));
    for (const row of set) {
      const after = row.after as RecordValue;
      if (after.ttl !== ttl) row.after = { ...after, ttl };
    }
  }
}

function settledTtl(set: readonly Row[], key: string, previous: number | undefined): number {
  const stays = set.some(({ before }) => before !== undefined && keyOf(before) === key);
  const moved = set.flatMap(({ before }) =>
    before !== undefined && keyOf(before) !== key ? [before.ttl] : [],
  );
  const own = !stays && moved.length > 0 ? Math.min(...moved) : previous;
  const given = set.flatMap(({ explicitTtl }) => (explicitTtl === undefined ? [] : [explicitTtl]));
  const others = given.filter((ttl) => ttl !== own);
  return others.length > 0 ? Math.min(...others) : (own ?? DEFAULT_TTL_SECONDS);
}

function keyOf({ name, type }: RecordValue): string {
  return setKey(name, type);
}

function listOperations(rows: readonly Row[]): RecordOperation[] {
  const deletes: RecordOperation[] = [];
  const updates: RecordOperation[] = [];
  const creates: RecordOperation[] = [];
  for (const { before, after, item, restores } of rows) {
    const by = item === undefined ? {} : { item };
    if (before === undefined) {
      if (after === undefined) continue;
      creates.push({ op: 'create', after, ...(restores !== undefined && { restores }), ...by });
    } else if (after === undefined) {
      deletes.push({ op: 'delete', before, ...by });
    } else if (!sameValue(before, after)) {
      updates.push({ op: 'update', before, after: { ...before, ...after }, ...by });
    }
  }
  return [...deletes, ...updates, ...creates];
}

function* namesOf(op: RecordOperation): Generator<Name> {
  if (op.op !== 'create') yield op.before.name;
  if (op.op !== 'delete') yield op.after.name;
}
