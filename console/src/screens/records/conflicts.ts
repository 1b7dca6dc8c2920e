// Finds concurrent changes of others since an edit began. No input is lost: edits of other fields are rebased automatically, and
// conflicting edits of the same field wait for a decision.

import { addRow, type Draft, type Edit, type RowKey } from './draft.ts';
import { type Field, fieldsThatDiffer, type KeptRecord, type Typed, typedOf } from './typed.ts';

export interface Conflict {
  readonly key: RowKey;
  readonly kind: 'changed' | 'deleted';
  /** Fields that both sides changed. */
  readonly fields: readonly Field[];
  readonly base: Typed;
  readonly mine: Typed | null;
  /** The current record. Absent if it was deleted. */
  readonly theirs?: Typed;
}

export interface Rebased {
  readonly draft: Draft;
  readonly conflicts: readonly Conflict[];
}

export function rebase(draft: Draft, records: ReadonlyMap<string, KeptRecord>): Rebased {
  const conflicts: Conflict[] = [];
  const edits: Record<string, Edit> = {};
  let isSame = true;
  for (const [key, edit] of Object.entries(draft.edits)) {
    const record = records.get(key);
    const kept = record === undefined ? onGone(key, edit) : onChanged(key, edit, typedOf(record));
    if ('kind' in kept) conflicts.push(kept);
    const next = 'kind' in kept ? edit : kept.edit;
    if (next !== undefined) edits[key] = next;
    if (next !== edit) isSame = false;
  }
  return { draft: isSame ? draft : { ...draft, edits }, conflicts };
}

function onGone(key: RowKey, { base, now }: Edit): Conflict | { edit: undefined } {
  if (now === null) return { edit: undefined }; // both sides deleted it
  return { key, kind: 'deleted', fields: [], base, mine: now };
}

function onChanged(key: RowKey, edit: Edit, theirs: Typed): Conflict | { edit: Edit | undefined } {
  const changed = fieldsThatDiffer(edit.base, theirs);
  if (changed.length === 0) return { edit };
  const { base, now } = edit;
  if (now === null) return { key, kind: 'changed', fields: changed, base, mine: null, theirs };
  const both = fieldsThatDiffer(base, now).filter(
    (field) => changed.includes(field) && now[field] !== theirs[field],
  );
  if (both.length > 0) return { key, kind: 'changed', fields: both, base, mine: now, theirs };
  const moved = onto(edit, theirs);
  return { edit: moved };
}

/** Applies the local fields to the current record. Returns undefined if no difference is left. */
function onto({ base, now }: Edit, theirs: Typed): Edit | undefined {
  if (now === null) return { base: theirs, now };
  const mine = Object.fromEntries(fieldsThatDiffer(base, now).map((field) => [field, now[field]]));
  const moved = { ...theirs, ...mine };
  return fieldsThatDiffer(theirs, moved).length === 0 ? undefined : { base: theirs, now: moved };
}

export function keepMine(draft: Draft, { key, theirs, mine }: Conflict): Draft {
  const { [key]: edit, ...others } = draft.edits;
  if (edit === undefined) return draft;
  if (theirs === undefined)
    return mine === null ? { ...draft, edits: others } : addRow({ ...draft, edits: others }, mine);
  const moved = onto(edit, theirs);
  return { ...draft, edits: moved === undefined ? others : { ...others, [key]: moved } };
}

export function takeTheirs(draft: Draft, { key, theirs, fields, mine }: Conflict): Draft {
  const { [key]: edit, ...others } = draft.edits;
  if (edit === undefined || theirs === undefined || mine === null) return { ...draft, edits: others };
  const given = Object.fromEntries(fields.map((field) => [field, theirs[field]]));
  const moved = onto({ base: edit.base, now: { ...mine, ...given } }, theirs);
  return { ...draft, edits: moved === undefined ? others : { ...others, [key]: moved } };
}
