import { expect, it } from 'vitest';
import { pairRecords } from '../../../src/zone/edit/pair-records.ts';
import { newRecord, records } from '../../support/zone/customer-records.ts';

const held = (...lines: string[]) => records(lines).map((record) => ({ before: record, after: record }));
const wanted = (...addresses: string[]) =>
  addresses.map((address) => ({ rdata: newRecord(`a A ${address}`).rdata }));

function paired(rows: ReturnType<typeof held>, contents: ReturnType<typeof wanted>) {
  const { pairs, added, leftOver } = pairRecords('A', rows, contents);
  return {
    pairs: pairs.map(({ content, row }) => `${row.before.id}=${content.rdata.join('.')}`).sort(),
    added: added.map(({ content, path }) => `${path}${content.rdata.join('.')}`),
    leftOver: leftOver.map(({ before }) => before.id),
  };
}

it('rows of equal rdata stay, then rows take new rdata by id, then records are added', () => {
  const rows = held('3: a A 192.0.2.3', '1: a A 192.0.2.1', '2: a A 192.0.2.2');
  expect(paired(rows, wanted('192.0.2.9', '192.0.2.2', '192.0.2.8', '192.0.2.7'))).toEqual({
    pairs: ['1=192.0.2.7', '2=192.0.2.2', '3=192.0.2.8'],
    added: ['records[0].192.0.2.9'],
    leftOver: [],
  });
});

it('the order of the records does not matter', () => {
  const rows = held('1: a A 192.0.2.1', '2: a A 192.0.2.2');
  const one = paired(rows, wanted('192.0.2.8', '192.0.2.9'));
  expect(paired(rows, wanted('192.0.2.9', '192.0.2.8'))).toEqual(one);
});

it('rows without a record are left over, equal ones one by one', () => {
  const rows = held('1: a TXT x', '2: a TXT x', '3: a TXT y');
  const { rdata } = newRecord('a TXT x');
  const { pairs, leftOver } = pairRecords('TXT', rows, [{ rdata }]);
  expect([pairs.map(({ row }) => row.before.id), leftOver.map(({ before }) => before.id)]).toEqual([
    [1],
    [2, 3],
  ]);
});
