// Computes the diff of a change by record, for the confirmation, for imports, and for the history.

import { type Draft, unfinished } from './draft.ts';
import { type Field, fieldsThatDiffer, type RecordFields, type Typed, typedOf } from './typed.ts';

export interface Difference {
  readonly key: string;
  readonly op: 'create' | 'update' | 'delete';
  readonly before?: Typed;
  readonly after?: Typed;
  /** Fields that differ, for an update. */
  readonly fields: readonly Field[];
}

export function differencesOf(draft: Draft): Difference[] {
  const idle = new Set(unfinished(draft).map(({ key }) => key));
  const edits = Object.entries(draft.edits).map(([key, { base, now }]) =>
    difference(key, base, now ?? undefined),
  );
  const creates = draft.creates
    .filter(({ key }) => !idle.has(key))
    .map(({ key, typed }) => difference(key, undefined, typed));
  return [...edits, ...creates.reverse()].sort(byName);
}

interface ChangedRecord {
  readonly before?: (RecordFields & { readonly id: number }) | undefined;
  readonly after?: (RecordFields & { readonly id: number }) | undefined;
}

/** Returns the diff of a saved change. */
export function differencesOfChange(records: readonly ChangedRecord[]): Difference[] {
  return records
    .map(({ before, after }, i) => difference(String(i), before && typedOf(before), after && typedOf(after)))
    .sort(byName);
}

/** Returns the diff that reverts the lines. */
export function reversed(differences: readonly Difference[]): Difference[] {
  return differences.map(({ key, before, after }) => difference(key, after, before));
}

export function difference(key: string, before: Typed | undefined, after: Typed | undefined): Difference {
  if (before === undefined || after === undefined) {
    const op = before === undefined ? 'create' : 'delete';
    return { key, op, ...(before && { before }), ...(after && { after }), fields: [] };
  }
  return { key, op: 'update', before, after, fields: fieldsThatDiffer(before, after) };
}

function byName(a: Difference, b: Difference): number {
  const [one, other] = [a.before ?? a.after, b.before ?? b.after];
  return compareNames(one?.name ?? '', other?.name ?? '');
}

export function tally(differences: readonly Difference[]): Record<Difference['op'], number> {
  const counts = { create: 0, update: 0, delete: 0 };
  for (const { op } of differences) counts[op]++;
  return counts;
}

/** Sorts the apex first, then each name before the names below it, by labels from the right. */
export function compareNames(a: string, b: string): number {
  const [one, other] = [sortKey(a), sortKey(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}

export function sortKey(name: string): string {
  return name === '@' ? '' : name.toLowerCase().split('.').reverse().join('\u0000');
}
