// The rows of the table: the records with the draft applied, grouped by name and filtered.

import { sortKey } from './diff.ts';
import type { Draft, RowKey } from './draft.ts';
import { type KeptRecord, TYPES, type Typed, typedOf } from './typed.ts';

export interface Row {
  readonly key: RowKey;
  readonly record: KeptRecord | undefined;
  /** The edited record; for a deleted one, the saved record. */
  readonly typed: Typed;
  readonly state: 'same' | 'new' | 'edited' | 'deleted';
  /** True for the first row of its name, which shows the name. */
  readonly isFirst: boolean;
}

export interface Filter {
  readonly text: string;
  readonly type: string;
  readonly proxied: '' | 'yes' | 'no';
  readonly isChangedOnly: boolean;
}

export const NO_FILTER: Filter = { text: '', type: '', proxied: '', isChangedOnly: false };

export function isFiltering({ text, type, proxied, isChangedOnly }: Filter): boolean {
  return text.trim() !== '' || type !== '' || proxied !== '' || isChangedOnly;
}

const TYPE_ORDER = new Map<string, number>(TYPES.map((type, i) => [type, i]));

/** Sorts by name, then by type, then by age. */
export function sortRecords(records: readonly KeptRecord[]): KeptRecord[] {
  return records
    .map((record) => ({ record, key: sortKey(record.name) }))
    .sort(
      (a, b) =>
        (a.key < b.key ? -1 : a.key > b.key ? 1 : 0) ||
        (TYPE_ORDER.get(a.record.type) ?? 99) - (TYPE_ORDER.get(b.record.type) ?? 99) ||
        a.record.id - b.record.id,
    )
    .map(({ record }) => record);
}

/** New rows come first. An edited row keeps its position until it is saved. */
export function rowsOf(sorted: readonly KeptRecord[], draft: Draft, filter: Filter): Row[] {
  const rows: Row[] = draft.creates.map(({ key, typed }) => ({
    key,
    record: undefined,
    typed,
    state: 'new',
    isFirst: true,
  }));
  const wants = matcher(filter);
  let nameAbove: string | undefined;
  for (const record of sorted) {
    const key = String(record.id);
    const edit = draft.edits[key];
    if (edit === undefined && filter.isChangedOnly) continue;
    if (!wants(record) && (edit === undefined || edit.now === null || !wants(edit.now))) continue;
    const state = edit === undefined ? 'same' : edit.now === null ? 'deleted' : 'edited';
    const typed = edit?.now ?? edit?.base ?? plain(record);
    rows.push({ key, record, typed, state, isFirst: record.name !== nameAbove });
    nameAbove = record.name;
  }
  return rows;
}

const typedByRecord = new WeakMap<KeptRecord, Typed>();

/** Returns the same object for the same record, so that unchanged rows are not rendered again. */
function plain(record: KeptRecord): Typed {
  const known = typedByRecord.get(record);
  if (known !== undefined) return known;
  const typed = typedOf(record);
  typedByRecord.set(record, typed);
  return typed;
}

type Matched = Pick<Typed, 'name' | 'type' | 'destination'> & { proxied?: boolean; comment?: string };

function matcher({ text, type, proxied }: Filter): (record: Matched) => boolean {
  const wanted = text.trim().toLowerCase();
  return (record) =>
    (type === '' || record.type === type) &&
    (proxied === '' || (record.proxied === true) === (proxied === 'yes')) &&
    (wanted === '' ||
      record.name.toLowerCase().includes(wanted) ||
      record.destination.toLowerCase().includes(wanted) ||
      (record.comment ?? '').toLowerCase().includes(wanted));
}

export function typedOfRow(draft: Draft, key: RowKey): Typed | undefined {
  const edit = draft.edits[key];
  if (edit !== undefined) return edit.now ?? edit.base;
  return draft.creates.find((row) => row.key === key)?.typed;
}
