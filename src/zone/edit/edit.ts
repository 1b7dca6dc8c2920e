// An edit: the changes that one call makes to the records of a domain, and the records to load for it. Only its result
// is validated, so only the kinds of its items are ordered: delete, replace, update, create.

import { type Name, parentOf } from '../../dns/name.ts';
import type { CustomerRecord, RecordSettings } from '../records/customer-record.ts';
import type { ApiType } from '../records/customer-types.ts';

/** Omitted fields take the record set's TTL and the default settings. */
export interface NewContent extends Partial<RecordSettings> {
  readonly rdata: Uint8Array;
  readonly ttl?: number;
}

export interface NewRecord extends NewContent {
  readonly name: Name;
  readonly type: ApiType;
  /** Index of the item in the caller's list, if it differs from the index in this one. */
  readonly index?: number;
  /** True if an equal TXT record is not a conflict (import). */
  readonly allowEqualTxt?: boolean;
  /** The row that a revert restores. */
  readonly restores?: { readonly id: number; readonly createdAt: string };
}

/** The content is either rdata, or text that is read according to the record's final type. */
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
  /** As in `NewRecord`. */
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

/** A refusal by the plan. */
export interface PlanRefusal {
  readonly code: 'plan_feature' | 'plan_limit';
  readonly message: string;
  /** With `plan_limit`: the limit. */
  readonly limit?: number;
  /** With `plan_feature`: the missing feature. */
  readonly feature?: string;
}

/** Kinds of problems: 404, 400, 403 for the plan, and 409 for `record_managed` and `record_conflict`. */
export type EditProblemCode = 'not_found' | 'invalid' | PlanRefusal['code'] | 'managed' | 'conflict';

export interface EditProblem {
  readonly list: EditList;
  readonly index: number;
  /** The API's name of the field, for example `records[2].destination` in a replacement. */
  readonly field?: string;
  readonly code: EditProblemCode;
  readonly message: string;
  readonly limit?: number;
  readonly feature?: string;
}

/** First step of loading: returns the ids of records that must belong to the domain. */
export function idsTouched(edit: Edit): number[] {
  const restored = edit.creates.flatMap(({ restores }) => (restores === undefined ? [] : [restores.id]));
  return [...new Set([...edit.deletes, ...edit.updates].map(({ id }) => id).concat(restored))];
}

export interface RecordsNeeded {
  /** Load every record at these names. */
  readonly at: readonly Name[];
  /** Load the NS and DNAME records at these names, which are above the others. None is in `at`. */
  readonly cutsAt: readonly Name[];
  /** Load every record strictly below these names: a delegation or a DNAME is added, removed or changed there. */
  readonly below: readonly Name[];
}

/**
 * Second step of loading. `found` are the records of `idsTouched`. Returns everything that `planEditInPieces` needs,
 * except for the glue of delegations (`formerHosts`, `possibleGlue`).
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
  const judged = new Set<Name>();
  for (const name of at) {
    if (name === apex) continue;
    for (let above = parentOf(name); !judged.has(above); above = parentOf(above)) {
      judged.add(above);
      if (!at.has(above)) cutsAt.add(above);
      if (above === apex) break;
    }
  }
  return { at: [...at], cutsAt: [...cutsAt], below: [...below] };
}
