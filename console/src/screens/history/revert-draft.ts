// Converts the revert of a change to a draft on the current records, which can be shown and validated first.

import { type Draft, type Edit, type NewRow, NO_DRAFT } from '../records/draft.ts';
import { NEW_RECORD, type RecordFields, typedOf } from '../records/typed.ts';

interface ChangedRecord extends RecordFields {
  readonly id: number;
}

interface Operation {
  readonly op: 'create' | 'update' | 'delete';
  readonly before?: ChangedRecord | undefined;
  readonly after?: ChangedRecord | undefined;
}

export function revertDraft(operations: readonly Operation[]): Draft {
  const edits: Record<string, Edit> = {};
  const creates: NewRow[] = [];
  for (const { before, after } of operations) {
    if (after === undefined && before !== undefined) {
      creates.unshift({ key: `n${creates.length + 1}`, typed: { ...NEW_RECORD, ...typedOf(before) } });
    } else if (after !== undefined) {
      const now = before === undefined ? null : typedOf(before);
      edits[after.id] = { base: typedOf(after), now };
    }
  }
  return { ...NO_DRAFT, edits, creates, made: creates.length };
}
