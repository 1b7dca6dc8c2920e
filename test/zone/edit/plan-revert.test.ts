import { expect, it } from 'vitest';
import { planRevert, type SavedOperation } from '../../../src/zone/edit/plan-revert.ts';
import type { CustomerRecord } from '../../../src/zone/records/customer-record.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';
import {
  applied,
  type EditLines,
  edit,
  editLines,
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

/** Each row: name | records | first edit, `then` later edits | what the revert does. */
it.each(
  rowsOf(`
deletes what was made | | create www A 192.0.2.1 | - 100: www 300 A 192.0.2.1
restores what was deleted, with its id and its settings | 7: www 600 A 192.0.2.1 ; proxied captcha comment=web | delete 7 | + 7: www 600 A 192.0.2.1 ; proxied captcha comment=web
gives every field its old value | 7: www 600 A 192.0.2.1 ; proxied comment=web | update 7 name=w3 type=CNAME destination=a.example.net ttl=60 proxied=false comment= | ~ 7: www 600 A 192.0.2.1 ; proxied comment=web
gives a whole set its old TTL | 1: a 600 A 192.0.2.1 / 2: a 600 A 192.0.2.2 | create a 60 A 192.0.2.3 | - 100: a 60 A 192.0.2.3 / ~ 1: a 600 A 192.0.2.1 / ~ 2: a 600 A 192.0.2.2
leaves the TTL of a set alone that others have changed since | 1: a 600 A 192.0.2.1 / 2: a 600 A 192.0.2.2 | delete 1 then update 2 ttl=60 | + 1: a 60 A 192.0.2.1
brings equal TXT back | 1: @ TXT x / 2: @ TXT x | delete 1 | + 1: @ 300 TXT x
brings back the value of one of two equal TXT | 1: @ TXT x / 2: @ TXT x | update 1 destination=y | ~ 1: @ 300 TXT x
keeps records that were added since | 1: a A 192.0.2.1 | update 1 destination=192.0.2.9 then create b TXT x | ~ 1: a 300 A 192.0.2.1
conflicts if a later change altered what was made | | create www A 192.0.2.1 then update 100 comment=x | conflict 100: a later change touched record 100 of this change
conflicts if a later change deleted what was made | | create www A 192.0.2.1 then delete 100 | conflict 100: a later change touched record 100 of this change
conflicts if a later change deleted what was altered | 1: a A 192.0.2.1 | update 1 ttl=60 then delete 1 | conflict 1: a later change touched record 1 of this change
conflicts if a later change altered what was altered | 1: a A 192.0.2.1 / 2: b A 192.0.2.1 | update 1 ttl=60 / update 2 ttl=60 then update 1 ttl=90 / update 2 ttl=90 | conflict 1 2: a later change touched 2 records of this change
conflicts if a later change gave the set another TTL | | create www A 192.0.2.1 then create www 60 A 192.0.2.2 | conflict 100: a later change touched record 100 of this change
conflicts if the name has a CNAME since | 1: a A 192.0.2.1 | delete 1 then create a CNAME b.example.net | conflict create[0]
conflicts if the same record was added since | 1: a A 192.0.2.1 | delete 1 then create a A 192.0.2.1 | conflict create[0]
deletes what was made if later changes cancel each other | | create www A 192.0.2.1 then update 100 ttl=60 then update 100 ttl=300 | - 100: www 300 A 192.0.2.1`),
)('a revert %s', (_, lines, edits = '', expected) => {
  const [first = {}, ...later] = edits.split(' then ').map((one) => editLines(itemsOf(one)));
  expect(reverted(itemsOf(lines), first, ...later)).toEqual(itemsOf(expected));
});

it('a revert conflicts if the deleted record, with its id, exists again', () => {
  const { ops } = history(['1: a A 192.0.2.1'], { delete: [1] });
  expect(planRevert(ops, records(['1: a A 192.0.2.1'])).kind).toBe('conflict');
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
