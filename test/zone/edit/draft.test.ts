import { expect, it } from 'vitest';
import { edit, editState, showProblem, showRecord } from '../../support/zone/customer-records.ts';
import { draftEdit } from '../../support/zone/plan-edit.ts';

it('knows which item wrote a row last, and the TTL that it gave', () => {
  const state = editState(['1: a 600 A 192.0.2.1', '2: b A 192.0.2.2', '3: c A 192.0.2.3']);
  const wanted = edit({
    delete: [2],
    update: [[1, { ttl: 60 }]],
    replace: [['d', 'TXT', '90 TXT x']],
    create: ['e A 192.0.2.5'],
  });
  const { rows, problems } = draftEdit(state, wanted);
  expect(problems).toEqual([]);
  expect(
    rows.map(({ before, after, item, explicitTtl }) => [
      before?.id,
      after && showRecord(after).replace(/ \d+ /, ' '),
      item && `${item.list}[${item.index}] ${item.path}`,
      explicitTtl,
    ]),
  ).toEqual([
    [1, 'a A 192.0.2.1', 'update[0] ', 60],
    [2, undefined, 'delete[0] ', undefined],
    [3, 'c A 192.0.2.3', undefined, undefined],
    [undefined, 'd TXT x', 'replace[0] records[0].', 90],
    [undefined, 'e A 192.0.2.5', 'create[0] ', undefined],
  ]);
});

it('an item may have another place in the caller’s list', () => {
  const wanted = edit({ create: ['a 5 A 192.0.2.1'] });
  const creates = wanted.creates.map((record) => ({ ...record, index: 41 }));
  expect(draftEdit(editState([]), { ...wanted, creates }).problems.map(showProblem)).toEqual([
    'invalid create[41] ttl',
  ]);
});

it('a restored row needs its id free', () => {
  const wanted = edit({ create: ['b A 192.0.2.1', 'c A 192.0.2.1'] });
  const restores = { id: 1, createdAt: '2026-01-01T00:00:00Z' };
  const creates = wanted.creates.map((record) => ({ ...record, restores }));
  const problemsIn = (lines: string[]) =>
    draftEdit(editState(lines), { ...wanted, creates }).problems.map(showProblem);
  expect(problemsIn(['1: a A 192.0.2.1'])).toEqual(['conflict create[0]', 'conflict create[1]']);
  expect(problemsIn([])).toEqual(['invalid create[1]']);
});
