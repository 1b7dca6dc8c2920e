// Converts the draft to one API call, and the API's errors to problems of rows and fields.

import { type Draft, type RowKey, unfinished } from './draft.ts';
import { partAtFault } from './type-fields.ts';
import {
  canBeProxied,
  EDGE_FIELDS,
  FIELDS,
  type Field,
  fieldsThatDiffer,
  fieldValue,
  type Typed,
} from './typed.ts';

export interface Batch {
  readonly delete: readonly number[];
  readonly update: readonly ({ readonly id: number } & Readonly<Record<string, unknown>>)[];
  readonly create: readonly Readonly<Record<string, unknown>>[];
}

export interface BatchOfRows {
  readonly body: Batch;
  /** Row of each item, by list and index. */
  readonly rows: { readonly [list in keyof Batch]: readonly RowKey[] };
}

/** Omits rows without a value; they are validated when a value is entered. */
export function batchOf(draft: Draft): BatchOfRows {
  const edits = Object.entries(draft.edits);
  const deleted = edits.filter(([, { now }]) => now === null).map(([key]) => key);
  const updated = edits.flatMap(([key, { base, now }]) => (now === null ? [] : [{ key, base, now }]));
  const idle = new Set(unfinished(draft).map(({ key }) => key));
  const created = draft.creates.filter(({ key }) => !idle.has(key)).reverse();
  return {
    body: {
      delete: deleted.map(Number),
      update: updated.map(({ key, base, now }) => ({ id: Number(key), ...changesOf(base, now) })),
      create: created.map(({ typed }) => creationOf(typed)),
    },
    rows: {
      delete: deleted,
      update: updated.map(({ key }) => key),
      create: created.map(({ key }) => key),
    },
  };
}

export function isEmptyBatch({ body }: BatchOfRows): boolean {
  return body.delete.length + body.update.length + body.create.length === 0;
}

function changesOf(base: Typed, now: Typed): Record<string, unknown> {
  const fields = new Set<Field>(fieldsThatDiffer(base, now));
  if (fields.has('type')) fields.add('destination'); // otherwise the API parses the old destination with the new type
  return valuesOf(now, [...fields]);
}

/** Returns the fields that differ from the defaults. */
export function creationOf(typed: Typed): Record<string, unknown> {
  const isEdge = canBeProxied(typed.type) && typed.proxied;
  const fields = FIELDS.filter((field) => {
    if ((EDGE_FIELDS as readonly Field[]).includes(field)) return isEdge && typed[field] !== '';
    if (field === 'proxied') return typed.proxied;
    if (field === 'comment') return typed.comment !== '';
    return true;
  });
  return valuesOf(typed, fields);
}

function valuesOf(typed: Typed, fields: readonly Field[]): Record<string, unknown> {
  return Object.fromEntries(
    fields.map((field) => [field, fieldValue(typed, field)]).filter(([, value]) => value !== undefined),
  );
}

export interface RowProblem {
  /** Undefined if the problem concerns the whole row. */
  readonly field?: Field;
  /** Part of the destination. */
  readonly part?: string;
  readonly message: string;
}

export type Problems = ReadonlyMap<RowKey, readonly RowProblem[]>;
export const NO_PROBLEMS: Problems = new Map();

interface Item {
  readonly list: string;
  readonly index: number;
  readonly field?: string;
  readonly error: string;
}

export function problemsOf(
  items: readonly Item[],
  { rows }: BatchOfRows,
  typedBy: (key: RowKey) => Typed | undefined,
): Problems {
  const problems = new Map<RowKey, RowProblem[]>();
  for (const { list, index, field, error } of items) {
    const key = rows[list as keyof Batch]?.[index];
    if (key === undefined) continue;
    const known = FIELDS.find((each) => each === field);
    const about = known === 'destination' ? partAtFault(typedBy(key)?.type ?? '', error) : { message: error };
    problems.set(key, [
      ...(problems.get(key) ?? []),
      { ...(known !== undefined && { field: known }), ...about },
    ]);
  }
  return problems;
}
