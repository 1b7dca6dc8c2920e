import { describe, expect, it } from 'vitest';
import { planRevert, type SavedOperation } from '../../../src/zone/edit/plan-revert.ts';
import type { CustomerRecord } from '../../../src/zone/records/customer-record.ts';
import {
  applied,
  type EditLines,
  edit,
  editState,
  records,
  showPlan,
  showRecord,
} from '../../support/zone/customer-records.ts';
import { planEdit } from '../../support/zone/plan-edit.ts';

/** The change that the first edit made, and the records after all of them. */
function history(lines: readonly string[], first: EditLines, ...later: EditLines[]) {
  let current = records(lines);
  let nextId = 100;
  const run = (wanted: EditLines): SavedOperation[] => {
    const plan = planEdit(editState([], { records: current, recordCount: current.length }), edit(wanted));
    if (plan.kind === 'problems') throw new Error(JSON.stringify(plan.problems));
    const known = new Set(current.map(({ id }) => id));
    current = applied(current, plan.ops, nextId);
    nextId += 100;
    const made = current.filter(({ id }) => !known.has(id));
    return plan.ops.map((op) =>
      op.op === 'create' ? { op: 'create', after: made.shift() as CustomerRecord } : op,
    );
  };
  const ops = run(first);
  for (const wanted of later) run(wanted);
  return { ops, current };
}

function reverted(lines: readonly string[], first: EditLines, ...later: EditLines[]): string[] {
  const { ops, current } = history(lines, first, ...later);
  const revert = planRevert(ops, current);
  if (revert.kind === 'conflict') return [`conflict ${revert.ids.join(' ')}: ${revert.message}`];
  return showPlan(planEdit(editState([], { records: current, recordCount: current.length }), revert.edit));
}

describe('taking a change back', () => {
  it('deletes what was made', () => {
    expect(reverted([], { create: ['www A 192.0.2.1'] })).toEqual(['- 100: www 300 A 192.0.2.1']);
  });

  it('restores what was deleted, with its id and its settings', () => {
    expect(reverted(['7: www 600 A 192.0.2.1 ; proxied captcha comment=web'], { delete: [7] })).toEqual([
      '+ 7: www 600 A 192.0.2.1 ; proxied captcha comment=web',
    ]);
  });

  it('gives every field its old value', () => {
    const lines = ['7: www 600 A 192.0.2.1 ; proxied comment=web'];
    const fields = {
      name: 'w3',
      type: 'CNAME',
      destination: 'a.example.net',
      ttl: 60,
      proxied: false,
      comment: '',
    } as const;
    expect(reverted(lines, { update: [[7, fields]] })).toEqual([
      '~ 7: www 600 A 192.0.2.1 ; proxied comment=web',
    ]);
  });

  it('gives a whole set its old TTL', () => {
    expect(
      reverted(['1: a 600 A 192.0.2.1', '2: a 600 A 192.0.2.2'], { create: ['a 60 A 192.0.2.3'] }),
    ).toEqual(['- 100: a 60 A 192.0.2.3', '~ 1: a 600 A 192.0.2.1', '~ 2: a 600 A 192.0.2.2']);
  });

  it('leaves the TTL of a set alone that others have changed since', () => {
    expect(
      reverted(
        ['1: a 600 A 192.0.2.1', '2: a 600 A 192.0.2.2'],
        { delete: [1] },
        { update: [[2, { ttl: 60 }]] },
      ),
    ).toEqual(['+ 1: a 60 A 192.0.2.1']);
  });

  it('brings equal TXT back', () => {
    const lines = ['1: @ TXT x', '2: @ TXT x'];
    expect(reverted(lines, { delete: [1] })).toEqual(['+ 1: @ 300 TXT x']);
    expect(reverted(lines, { update: [[1, { destination: 'y' }]] })).toEqual(['~ 1: @ 300 TXT x']);
  });

  it('keeps records that were added since', () => {
    expect(
      reverted(
        ['1: a A 192.0.2.1'],
        { update: [[1, { destination: '192.0.2.9' }]] },
        { create: ['b TXT x'] },
      ),
    ).toEqual(['~ 1: a 300 A 192.0.2.1']);
  });
});

describe('a later change is in the way', () => {
  const made: EditLines = { create: ['www A 192.0.2.1'] };

  it('when it altered what was made', () => {
    expect(reverted([], made, { update: [[100, { comment: 'x' }]] })).toEqual([
      'conflict 100: a later change touched record 100 of this change',
    ]);
  });

  it('when it deleted what was made or altered', () => {
    expect(reverted([], made, { delete: [100] })[0]).toMatch(/^conflict 100/);
    expect(reverted(['1: a A 192.0.2.1'], { update: [[1, { ttl: 60 }]] }, { delete: [1] })[0]).toMatch(
      /^conflict 1:/,
    );
  });

  it('when it altered what was altered', () => {
    const lines = ['1: a A 192.0.2.1', '2: b A 192.0.2.1'];
    const first: EditLines = {
      update: [
        [1, { ttl: 60 }],
        [2, { ttl: 60 }],
      ],
    };
    expect(
      reverted(lines, first, {
        update: [
          [1, { ttl: 90 }],
          [2, { ttl: 90 }],
        ],
      }),
    ).toEqual(['conflict 1 2: a later change touched 2 records of this change']);
  });

  it('when it changed the TTL of the set', () => {
    expect(reverted([], made, { create: ['www 60 A 192.0.2.2'] })[0]).toMatch(/^conflict 100/);
  });

  it('when what was deleted is there again', () => {
    const { ops } = history(['1: a A 192.0.2.1'], { delete: [1] });
    expect(planRevert(ops, records(['1: a A 192.0.2.1'])).kind).toBe('conflict');
  });

  it('when the name has a record that excludes it', () => {
    expect(reverted(['1: a A 192.0.2.1'], { delete: [1] }, { create: ['a CNAME b.example.net'] })).toEqual([
      'conflict create[0]',
    ]);
    expect(reverted(['1: a A 192.0.2.1'], { delete: [1] }, { create: ['a A 192.0.2.1'] })).toEqual([
      'conflict create[0]',
    ]);
  });

  it('but not when it put everything back', () => {
    expect(reverted([], made, { update: [[100, { ttl: 60 }]] }, { update: [[100, { ttl: 300 }]] })).toEqual([
      '- 100: www 300 A 192.0.2.1',
    ]);
  });
});

it('a change that is taken back twice is there again', () => {
  const { ops, current } = history(['1: a A 192.0.2.1'], { delete: [1] });
  const revert = planRevert(ops, current);
  const back = planEdit(editState([]), revert.kind === 'edit' ? revert.edit : edit({}));
  const after = applied(current, back.kind === 'change' ? back.ops : []);
  expect(after.map((record) => showRecord(record))).toEqual(['a 300 A 192.0.2.1']);
  const again = planRevert([{ op: 'create', after: after[0] as CustomerRecord }], after);
  expect(again.kind === 'edit' && again.edit.deletes).toEqual([{ id: 1 }]);
});
