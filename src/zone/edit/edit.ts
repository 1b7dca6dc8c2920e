// An edit: the changes that one call wants in the records of a domain, and which records must be loaded to judge it. It
// is judged by its result, so only the kinds of its items have an order: delete, replace, update, create.

import type { Name } from '../../dns/name.ts';
import type { CustomerRecord, RecordSettings } from '../records/customer-record.ts';
import type { ApiType } from '../records/customer-types.ts';
import { namesBetween } from '../records/record-name.ts';

/** Fields that are left out take the record set's TTL and the default settings. */
export interface NewContent extends Partial<RecordSettings> {
  readonly rdata: Uint8Array;
  readonly ttl?: number;
}

export interface NewRecord extends NewContent {
  readonly name: Name;
  readonly type: ApiType;
  /** The item's place in the caller's list, if that differs from its place in this one. */
  readonly index?: number;
  /** An equal TXT beside it is no conflict (import). */
  readonly allowEqualTxt?: boolean;
  /** The row that a revert brings back. */
  readonly restores?: { readonly id: number; readonly createdAt: string };
}

/** The content is either rdata or text that depends on the type the record has in the end. */
export interface RecordChange extends Partial<RecordSettings> {
  readonly name?: Name;
  readonly type?: ApiType;
  readonly rdata?: Uint8Array;
  readonly destination?: string;
  readonly mxPriority?: number;
  readonly ttl?: number;
}

export interface RecordUpdate {
  readonly id: number;
  readonly set: RecordChange;
  readonly index?: number;
  /** The same as for a new record. */
  readonly allowEqualTxt?: boolean;
}

interface SetReplacement {
  readonly name: Name;
  readonly type: ApiType;
  readonly ttl?: number;
  /** The records; an empty list deletes the set. */
  readonly records: readonly NewContent[];
  readonly index?: number;
}

export interface Edit {
  readonly deletes: readonly { readonly id: number; readonly index?: number }[];
  readonly replaces: readonly SetReplacement[];
  readonly updates: readonly RecordUpdate[];
  readonly creates: readonly NewRecord[];
}

export const NO_EDIT: Edit = { deletes: [], replaces: [], updates: [], creates: [] };

export type EditList = 'create' | 'update' | 'delete' | 'replace';

/** How a plan refuses. */
export interface PlanRefusal {
  readonly code: 'plan_feature' | 'plan_limit';
  readonly message: string;
  /** With `plan_limit`: how many it allows. */
  readonly limit?: number;
  /** With `plan_feature`: what it does not include. */
  readonly feature?: string;
}

/** The kinds of problems: 404, 400, 403 of the plan, 409 `record_managed` and `record_conflict`. */
export type EditProblemCode = 'not_found' | 'invalid' | PlanRefusal['code'] | 'managed' | 'conflict';

export interface EditProblem {
  readonly list: EditList;
  readonly index: number;
  /** The API's name of the field; inside a replacement `records[2].destination`. */
  readonly field?: string;
  readonly code: EditProblemCode;
  readonly message: string;
  readonly limit?: number;
  readonly feature?: string;
}

/** The first step of loading: the ids of records that belong to the domain. */
export function idsTouched(edit: Edit): number[] {
  const restored = edit.creates.flatMap(({ restores }) => (restores === undefined ? [] : [restores.id]));
  return [...new Set([...edit.deletes, ...edit.updates].map(({ id }) => id).concat(restored))];
}

export interface RecordsNeeded {
  /** Every record at these names. */
  readonly at: readonly Name[];
  /** The NS and DNAME records at these names, which lie above. None is in `at`. */
  readonly cutsAt: readonly Name[];
  /** Load every record strictly below these names: a delegation or a DNAME begins, ends or changes there. */
  readonly below: readonly Name[];
}

/**
 * Second step: with `found`, the records of `idsTouched`, all that `planEditInPieces` has to see, but for the glue of
 * delegations (`formerHosts`, `possibleGlue`).
 */
export function namesTouched(edit: Edit, apex: Name, found: readonly CustomerRecord[]): RecordsNeeded {
  const at = new Set<Name>();
  const below = new Set<Name>();
  const touch = (name: Name, ...types: (ApiType | undefined)[]): void => {
    at.add(name);
    if ((types.includes('NS') && name !== apex) || types.includes('DNAME')) below.add(name);
  };
  const byId = new Map(found.map((record) => [record.id, record]));
  for (const { id } of edit.deletes) {
    const record = byId.get(id);
    if (record !== undefined) touch(record.name, record.type);
  }
  for (const { id, set } of edit.updates) {
    const record = byId.get(id);
    if (record === undefined) continue;
    touch(record.name, record.type);
    touch(set.name ?? record.name, set.type ?? record.type);
  }
  for (const { name, type } of [...edit.replaces, ...edit.creates]) touch(name, type);

  const cutsAt = new Set<Name>();
  for (const name of at) {
    if (name === apex) continue;
    for (const above of [...namesBetween(name, apex), apex]) if (!at.has(above)) cutsAt.add(above);
  }
  return { at: [...at], cutsAt: [...cutsAt], below: [...below] };
}
