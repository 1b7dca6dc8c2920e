import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inOneGo } from '../../../src/dns/zone-file/in-one-go.ts';
import type { RecordText } from '../../../src/zone/edit/parse-edit.ts';
import type { EditState } from '../../../src/zone/edit/plan-edit.ts';
import { ImportMerge } from '../../../src/zone/import/merge-import.ts';
import { type ReadImport, readImport } from '../../../src/zone/import/read-import.ts';
import type { CustomerRecord } from '../../../src/zone/records/customer-record.ts';
import { anything, domainOf, stateOf } from '../../support/random/random-edits.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';
import { scale } from '../../support/tests/scale.ts';
import {
  APEX,
  applied,
  editState,
  recordText,
  type StateOptions,
  showOperation,
  showProblem,
} from '../../support/zone/customer-records.ts';
import { planEdit } from '../../support/zone/plan-edit.ts';

function read(items: readonly RecordText[]): ReadImport {
  return inOneGo(readImport(items, APEX));
}

/** As `saveEdit` does it. */
function plan(state: EditState, items: readonly RecordText[]) {
  const merge = new ImportMerge(read(items), state.records);
  let planned = planEdit(state, merge.edit);
  let rounds = 1;
  while (planned.kind === 'problems') {
    const smaller = merge.without(planned.problems);
    if (smaller === undefined) break;
    planned = planEdit(state, smaller);
    rounds++;
  }
  return { planned, merge, rounds };
}

/** The operations, and the items that failed. */
function show(before: readonly string[], items: readonly string[], rest: StateOptions = {}) {
  const { planned, merge } = plan(
    editState(before, rest),
    items.map((line) => recordText(line)),
  );
  const ops = planned.kind === 'change' ? planned.ops.map(showOperation) : planned.problems.map(showProblem);
  return [ops, [...merge.failed.keys()].sort((a, b) => a - b)];
}

describe('an import', () => {
  it.each(
    rowsOf(`
adds | | a A 192.0.2.1 / a TXT x | + a 300 A 192.0.2.1 / + a 300 TXT x |
replaces row by row | a A 192.0.2.1 | a A 192.0.2.2 | ~ 1: a 300 A 192.0.2.2 |
keeps rows of equal content | a A 192.0.2.1 / a A 192.0.2.2 | a A 192.0.2.2 | - 1: a 300 A 192.0.2.1 |
leaves other sets alone | a A 192.0.2.1 / b A 192.0.2.1 | a A 192.0.2.1 | |
adds equal TXT | a TXT x | a TXT x / a TXT x | + a 300 TXT x / + a 300 TXT x |
gives the set the TTL that it says | a 300 A 192.0.2.1 / a 300 A 192.0.2.2 | a 600 A 192.0.2.1 / a A 192.0.2.2 | ~ 1: a 600 A 192.0.2.1 / ~ 2: a 600 A 192.0.2.2 |
keeps what a row has for the edge | a A 192.0.2.1 ; proxied captcha | a A 192.0.2.2 ; proxied=false comment=x | ~ 1: a 300 A 192.0.2.2 ; proxied captcha comment=x |
lets the kind that stands there win | a CNAME x.example.net | a A 192.0.2.1 / a CNAME y.example.net / a TXT x | ~ 1: a 300 CNAME y.example.net | 0 / 2
lets nothing in where each conflicts | a CNAME x. | a A 192.0.2.1 / a TXT x | | 0 / 1
lets the first kind win | | a CNAME x. / a A 192.0.2.1 / a CNAME y. | + a 300 CNAME x. | 1 / 2
lets an ANAME stand beside what is no address | | a ANAME x. / a MX 10 y. / a A 192.0.2.1 | + a 300 ANAME x. / + a 300 MX 10 y. | 2`),
  )('%s', (_, before, items, ops, failed) => {
    expect(show(itemsOf(before), itemsOf(items))).toEqual([itemsOf(ops), itemsOf(failed).map(Number)]);
  });

  it('beyond the plan or without one is not the fault of an item', () => {
    const items = ['a A 192.0.2.1', 'b A 192.0.2.1', 'c A 192.0.2.1 ; timeout=0'];
    expect(show([], items, { maxRecords: 1 })).toEqual([['plan_limit create[0]'], [2]]);
    expect(show([], items, { hasPlan: false })).toEqual([['no_active_plan create[0]'], [2]]);
  });

  it('of thousands of items that conflict at one name takes few rounds', () => {
    const items = Array.from({ length: 3000 }, (_, i): RecordText => {
      return { name: 'a', type: 'TXT', destination: `t${i}` };
    });
    const alias: RecordText = { name: 'a', type: 'CNAME', destination: 'x.example.net' };
    const { rounds, merge } = plan(stateOf([]), [...items, alias]);
    expect([rounds, [...merge.failed.keys()]]).toEqual([2, [3000]]);
  });

  it('leaves out what does not fit into its set, in few rounds', () => {
    const texts = (destinations: string[]) =>
      destinations.map((destination): RecordText => ({ name: 'a', type: 'TXT', destination }));
    const big = 'x'.repeat(40_000);
    const two = plan(stateOf([]), texts(['small', big, big]));
    expect([two.rounds, [...two.merge.failed.keys()]]).toEqual([2, [2]]);
    const many = plan(stateOf([]), texts(Array.from({ length: 8000 }, (_, i) => `t${i}`)));
    expect([many.rounds, many.merge.edit.creates.length + many.merge.failed.size]).toEqual([2, 8000]);
    expect(many.merge.edit.creates.length).toBeGreaterThan(3000);
  });

  it('ends, in order, with every item done or reported', () => {
    const list = fc.array(anything.record, { maxLength: 14 });
    fc.assert(
      fc.property(fc.array(anything.record, { maxLength: 16 }).map(domainOf), list, (before, items) => {
        const { planned, merge, rounds } = plan(stateOf(before), items);
        if (planned.kind !== 'change') throw new Error(JSON.stringify(planned.problems));
        const { creates, updates, deletes } = merge.edit;
        expect(creates.length + updates.length + merge.failed.size).toBe(items.length);
        expect(rounds).toBeLessThanOrEqual(items.length + 1);
        const after: CustomerRecord[] = applied(before, planned.ops);
        expect(after.length).toBe(before.length + creates.length - deletes.length);
        // the result is valid: writing a row again reports no problem
        const [first] = after;
        if (first === undefined) return;
        const again = planEdit(stateOf(after), {
          deletes: [],
          replaces: [],
          creates: [],
          updates: after.map(({ id, rdata }) => ({ id, set: { rdata }, allowEqualTxt: true })),
        });
        expect(again.kind).toBe('change');
      }),
      { numRuns: scale(100, 25) },
    );
  });
});
