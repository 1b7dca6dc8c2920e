// Unsaved changes: edited records, records to delete, and new rows. Plain data that the browser keeps across reloads. An edit has
// the record on which it was based, so that concurrent changes are detected.

import { canBeProxied, fieldsThatDiffer, type KeptRecord, NEW_RECORD, type Typed, typedOf } from './typed.ts';

export interface Edit {
  /** The record when the edit began. */
  readonly base: Typed;
  /** The edited record, or null if it is to be deleted. */
  readonly now: Typed | null;
}

export interface NewRow {
  readonly key: string;
  readonly typed: Typed;
}

export interface Draft {
  /** By record id. */
  readonly edits: Readonly<Record<string, Edit>>;
  readonly creates: readonly NewRow[];
  /** Counter for keys of new rows. */
  readonly made: number;
}

export const NO_DRAFT: Draft = { edits: {}, creates: [], made: 0 };

/** Key of a row: `n3` for a new one, `1041` for the record with this id. */
export type RowKey = string;

export function isEmpty({ edits, creates }: Draft): boolean {
  return creates.length === 0 && Object.keys(edits).length === 0;
}

export function countsOf({ edits, creates }: Draft): { create: number; update: number; delete: number } {
  const all = Object.values(edits);
  const deleted = all.filter(({ now }) => now === null).length;
  return { create: creates.length, update: all.length - deleted, delete: deleted };
}

export function addRow(draft: Draft, typed: Partial<Typed> = {}): Draft {
  const made = draft.made + 1;
  const row = { key: `n${made}`, typed: { ...NEW_RECORD, ...typed } };
  return { ...draft, made, creates: [row, ...draft.creates] };
}

/** Sets fields of a row. An edit that equals the record is dropped. */
export function editRow(
  draft: Draft,
  key: RowKey,
  record: KeptRecord | undefined,
  set: Partial<Typed>,
): Draft {
  if (record === undefined) {
    const creates = draft.creates.map((row) =>
      row.key === key ? { key, typed: fitted({ ...row.typed, ...set }) } : row,
    );
    return { ...draft, creates };
  }
  const base = draft.edits[key]?.base ?? typedOf(record);
  const now = fitted({ ...(draft.edits[key]?.now ?? base), ...set });
  if (fieldsThatDiffer(base, now).length === 0) return undoRow(draft, key);
  return { ...draft, edits: { ...draft.edits, [key]: { base, now } } };
}

/** Removes fields that the new type does not have. */
function fitted(typed: Typed): Typed {
  const proxied = typed.proxied && canBeProxied(typed.type);
  const mx_priority = typed.type === 'MX' ? typed.mx_priority : '';
  return { ...typed, proxied, mx_priority };
}

export function deleteRows(
  draft: Draft,
  keys: readonly RowKey[],
  records: ReadonlyMap<string, KeptRecord>,
): Draft {
  const gone = new Set(keys);
  const edits = { ...draft.edits };
  for (const key of keys) {
    const record = records.get(key);
    if (record?.editable === true) edits[key] = { base: edits[key]?.base ?? typedOf(record), now: null };
  }
  return { ...draft, edits, creates: draft.creates.filter(({ key }) => !gone.has(key)) };
}

/** Discards the edit of a row, or removes a new row. */
export function undoRow(draft: Draft, key: RowKey): Draft {
  const { [key]: _, ...edits } = draft.edits;
  return { ...draft, edits, creates: draft.creates.filter((row) => row.key !== key) };
}

/** New rows without a value, which are not validated or saved. */
export function unfinished({ creates }: Draft): readonly NewRow[] {
  return creates.filter(({ typed }) => typed.destination.trim() === '');
}
