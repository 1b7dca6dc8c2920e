// Where a destination is: found when it is written, unless the call says it.

import { describe, expect, it } from 'vitest';
import { planRevert } from '../../../src/zone/edit/plan-revert.ts';
import { countryOfDestination } from '../../../src/zone/records/country.ts';
import { applied, type EditLines, edit, editState, newRecord } from '../../support/zone/customer-records.ts';
import { planEdit } from '../../support/zone/plan-edit.ts';

const COUNTRIES: Readonly<Record<string, string>> = {
  '192.0.2.1': 'SE',
  '192.0.2.2': 'NL',
  '2001:db8::1': 'DE',
};
const countryOf = (address: string) => COUNTRIES[address];

it.each([
  ['A 192.0.2.1', 'SE'],
  ['AAAA 2001:db8::1', 'DE'],
  ['A 192.0.2.1 ; proxied', 'SE'],
  ['A 192.0.2.9', null],
  ['CNAME 192.0.2.1.example.net', null],
  ['ANAME web.example.net', null],
  ['TXT 192.0.2.1', null],
])('%s: %s', (line, country) => {
  expect(countryOfDestination(newRecord(`a ${line}`), countryOf)).toBe(country);
});

describe('an edit', () => {
  const before = ['1: a A 192.0.2.1', '2: b A 192.0.2.1', '3: c CNAME example.net'];
  const countries = (lines: EditLines, given: Record<number, string> = { 1: 'FR' }, told = countryOf) => {
    const state = editState(before, { countryOf: told });
    const records = state.records.map((record) => ({ ...record, destCountry: given[record.id] ?? null }));
    const planned = planEdit({ ...state, records }, edit(lines));
    if (planned.kind !== 'change') throw new Error(JSON.stringify(planned));
    return planned.ops.flatMap((op) => (op.op === 'delete' ? [] : [op.after.destCountry]));
  };

  it('fills the country of each new address', () => {
    expect(
      countries({ create: ['x A 192.0.2.2', 'y AAAA 2001:db8::1', 'z A 192.0.2.9', 'w TXT x'] }),
    ).toEqual(['NL', 'DE', null, null]);
  });

  it('keeps the country that the call gives', () => {
    const from = (destination: string) => ({ destination, dest_country: 'IT' });
    expect(
      countries({
        update: [
          [1, from('192.0.2.2')],
          [3, from('example.org')],
        ],
      }),
    ).toEqual(['IT', 'IT']);
    expect(countries({ replace: [['b', 'A', 'A 192.0.2.2 ; dest_country=IT']] })).toEqual(['IT']);
  });

  it('looks it up again only for another destination', () => {
    expect(countries({ update: [[1, { destination: '192.0.2.2' }]] })).toEqual(['NL']);
    expect(countries({ update: [[1, { comment: 'x' }]] })).toEqual(['FR']);
    expect(countries({ update: [[1, { type: 'CNAME', destination: 'example.org' }]] })).toEqual([null]);
    expect(countries({ replace: [['b', 'A', 'A 192.0.2.2', 'A 192.0.2.1']] })).toEqual(['NL']);
  });

  it('looks it up again when the call removes it', () => {
    expect(countries({ update: [[1, { dest_country: '' }]] })).toEqual(['SE']);
  });

  it('that is reverted restores the old country', () => {
    const state = editState(before, { countryOf });
    const records = state.records.map((record) => ({ ...record, destCountry: 'FR' }));
    const planned = planEdit(
      { ...state, records },
      edit({ update: [[1, { destination: '192.0.2.2' }]], delete: [2] }),
    );
    if (planned.kind !== 'change') throw new Error('it is a change');
    const then = applied(records, planned.ops);
    const ops = planned.ops.map((op) => (op.op === 'create' ? { op: op.op } : op));
    const revert = planRevert(ops, then);
    if (revert.kind !== 'edit') throw new Error('it can be taken back');
    const back = planEdit({ ...state, countryOf: undefined, records: then, recordCount: 2 }, revert.edit);
    if (back.kind !== 'change') throw new Error('it is a change');
    expect(applied(then, back.ops).map(({ destCountry }) => destCountry)).toEqual(['FR', 'FR', 'FR']);
  });
});
