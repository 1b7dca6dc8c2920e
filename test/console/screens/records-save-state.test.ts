import { describe, expect, it } from 'vitest';
import { addRow, deleteRows, NO_DRAFT } from '../../../console/src/screens/records/draft.ts';
import { saveStateOf } from '../../../console/src/screens/records/save-state.ts';
import { recordsById, someRecord } from '../../support/console/records.ts';

const draft = addRow(NO_DRAFT, { name: 'www', destination: '192.0.2.1' });
const unfinished = addRow(NO_DRAFT, { name: 'www', destination: ' ' });
const fine = {
  draft,
  checkedDraft: draft,
  error: undefined,
  isUnanswered: false,
  wrong: 0,
  conflicts: 0,
};
const passing = { isPassing: true };
const lasting = { isPassing: false };

describe('the save bar', () => {
  it.each([
    ['a checked draft without errors', {}, 'ready', true],
    ['an empty draft', { draft: NO_DRAFT }, 'nothing', false],
    ['a draft that is not checked yet', { checkedDraft: NO_DRAFT }, 'checking', true],
    ['a row without a value', { draft: unfinished, checkedDraft: unfinished }, 'unfinished', false],
    ['a row without a value that is not checked yet', { draft: unfinished }, 'unfinished', false],
    ['rows with errors', { wrong: 2 }, 'wrong', false],
    ['rows with errors of which one has no value', { draft: addRow(draft), wrong: 1 }, 'wrong', false],
    ['conflicts, which the review resolves', { conflicts: 1 }, 'wrong', true],
    ['errors and conflicts', { wrong: 1, conflicts: 1 }, 'wrong', false],
    ['a check that got no response', { error: passing }, 'failed', true],
    ['a draft that the API rejected', { error: lasting }, 'failed', false],
    [
      'a draft that was changed after it was rejected',
      { error: lasting, checkedDraft: NO_DRAFT },
      'failed',
      true,
    ],
    ['a save without a response', { isUnanswered: true, wrong: 1 }, 'unanswered', true],
  ] as const)('for %s', (_, set, state, canSave) =>
    expect(saveStateOf({ ...fine, ...set })).toEqual({ state, canSave }));

  it('allows saving the other changes if a new row has no value', () => {
    const record = someRecord({ id: 1 });
    const both = deleteRows(unfinished, ['1'], recordsById([record]));
    expect(saveStateOf({ ...fine, draft: both, checkedDraft: both })).toEqual({
      state: 'ready',
      canSave: true,
    });
  });
});
