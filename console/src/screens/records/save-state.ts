// Decides what the save bar shows, and whether the draft can be saved.

import { type Draft, isEmpty, unfinished } from './draft.ts';

export type SaveState =
  /** No unsaved changes. */
  | 'nothing'
  /** Rows have errors or conflicts. */
  | 'wrong'
  /** The API rejected the draft, or could not check it. */
  | 'failed'
  /** The last save got no response, and the same request can be repeated. */
  | 'unanswered'
  /** Only new rows without a value. */
  | 'unfinished'
  | 'checking'
  | 'ready';

interface Considered {
  readonly draft: Draft;
  /** The draft that was checked last. */
  readonly checkedDraft: Draft | undefined;
  readonly error: { readonly isPassing: boolean } | undefined;
  readonly isUnanswered: boolean;
  /** Number of rows with errors. */
  readonly wrong: number;
  /** Number of rows that someone else changed or deleted. The review asks what to do with them. */
  readonly conflicts: number;
}

export function saveStateOf(considered: Considered): {
  readonly state: SaveState;
  readonly canSave: boolean;
} {
  const { draft, checkedDraft, error, isUnanswered, wrong, conflicts } = considered;
  if (isEmpty(draft)) return { state: 'nothing', canSave: false };
  if (isUnanswered) return { state: 'unanswered', canSave: true };
  if (wrong > 0) return { state: 'wrong', canSave: false };
  const hasOnlyUnfinished =
    Object.keys(draft.edits).length === 0 && unfinished(draft).length === draft.creates.length;
  if (hasOnlyUnfinished) return { state: 'unfinished', canSave: false };
  if (conflicts > 0) return { state: 'wrong', canSave: true };
  // A rejection of an earlier draft may not apply to this one.
  if (error !== undefined) return { state: 'failed', canSave: error.isPassing || checkedDraft !== draft };
  return { state: checkedDraft === draft ? 'ready' : 'checking', canSave: true };
}
