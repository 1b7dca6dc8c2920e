import { describe, expect, it } from 'vitest';
import {
  explainBatch,
  explainBatchFields,
  explainOne,
  explainRevert,
} from '../../../src/api/actions/edit-problem.ts';
import type { EditProblem, EditProblemCode } from '../../../src/zone/edit/edit.ts';

const problem = (code: EditProblemCode, more: Partial<EditProblem> = {}): EditProblem => ({
  list: 'create',
  index: 0,
  code,
  message: 'why',
  ...more,
});

describe('the problems of an edit', () => {
  it.each([
    ['not_found', 404, undefined, 404, undefined, 409, 'record_conflict'],
    ['invalid', 400, 'validation_failed', 400, 'validation_failed', 400, 'wrong_state'],
    ['plan_feature', 403, 'plan_feature', 403, 'plan_feature', 403, 'plan_feature'],
    ['plan_limit', 403, 'plan_limit', 403, 'plan_limit', 403, 'plan_limit'],
    ['managed', 409, 'record_managed', 409, 'record_managed', 409, 'record_managed'],
    ['conflict', 409, 'record_conflict', 409, 'record_conflict', 409, 'record_conflict'],
  ] as const)('%s', (code, one, oneCode, batch, batchCode, revert, revertCode) => {
    const problems = [problem(code, { limit: 200, feature: 'x' })];
    const shown = [explainOne, explainBatch, explainRevert].flatMap((explain) => {
      const { status, code } = explain(problems);
      return [status, code];
    });
    expect(shown).toEqual([one, oneCode, batch, batchCode, revert, revertCode]);
    expect(explainBatch(problems).members.items).toEqual([{ list: 'create', index: 0, error: 'why' }]);
    expect(explainOne(problems).members).toMatchObject(
      code === 'plan_limit' ? { limit: 200 } : code === 'plan_feature' ? { feature: 'x' } : {},
    );
  });

  it('contain fields for one record, and items and fields for a batch', () => {
    const problems = [problem('invalid', { field: 'ttl' }), problem('invalid', { index: 4 })];
    expect(explainOne(problems).members).toEqual({
      fields: [
        { field: 'ttl', error: 'why' },
        { field: 'body', error: 'why' },
      ],
    });
    expect(explainBatch(problems).members).toEqual({
      fields: [
        { field: 'create[0].ttl', error: 'why' },
        { field: 'create[4]', error: 'why' },
      ],
      items: [
        { list: 'create', index: 0, field: 'ttl', error: 'why' },
        { list: 'create', index: 4, error: 'why' },
      ],
    });
  });

  it('contain items for schema errors that concern an item', () => {
    const fields = ['replace[3].records[1].destination', 'delete[0]', 'ids[2]', 'create', 'dry_run'];
    const { members } = explainBatchFields(fields.map((field) => ({ field, error: 'why' })));
    expect(members.fields).toHaveLength(5);
    expect(members.items).toEqual([
      { list: 'replace', index: 3, field: 'records[1].destination', error: 'why' },
      { list: 'delete', index: 0, error: 'why' },
      { list: 'delete', index: 2, error: 'why' },
    ]);
    expect(explainBatchFields([{ field: 'dry_run', error: 'why' }]).members).not.toHaveProperty('items');
  });
});
