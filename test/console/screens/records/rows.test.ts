// The rows of the table.

import { describe, expect, it } from 'vitest';
import { addRow, deleteRows, editRow, NO_DRAFT } from '../../../../console/src/screens/records/draft.ts';
import { NO_FILTER, rowsOf, sortRecords } from '../../../../console/src/screens/records/rows.ts';
import { recordsById, someRecord } from '../../../support/console/records.ts';

const records = [
  someRecord({ id: 1, name: 'www', type: 'A', destination: '192.0.2.1' }),
  someRecord({ id: 2, name: '@', type: 'TXT', destination: 'v=spf1 -all' }),
  someRecord({ id: 3, name: 'a.www', type: 'A', comment: 'Old Machine' }),
  someRecord({ id: 4, name: '@', type: 'A', proxied: true }),
  someRecord({ id: 5, name: 'mail', type: 'MX' }),
  someRecord({ id: 6, name: 'www', type: 'AAAA' }),
];
const sorted = sortRecords(records);
const ids = (rows: readonly { key: string }[]) => rows.map(({ key }) => key);

describe('rows', () => {
  it('are in groups by name, the apex first, names above what is below them', () => {
    expect(sorted.map(({ id }) => id)).toEqual([4, 2, 5, 1, 6, 3]);
    const first = rowsOf(sorted, NO_DRAFT, NO_FILTER).filter(({ isFirst }) => isFirst);
    expect(ids(first)).toEqual(['4', '5', '1', '3']);
  });

  it('show the draft: new rows first, edited ones in their place', () => {
    const edited = editRow(addRow(NO_DRAFT), '1', records[0], { name: 'zzz' });
    const draft = deleteRows(edited, ['5'], recordsById(records));
    const rows = rowsOf(sorted, draft, NO_FILTER);
    expect(ids(rows)).toEqual(['n1', '4', '2', '5', '1', '6', '3']);
    expect(rows.map(({ state }) => state).join(' ')).toBe('new same same deleted edited same same');
    expect(ids(rowsOf(sorted, draft, { ...NO_FILTER, isChangedOnly: true }))).toEqual(['n1', '5', '1']);
  });

  it.each([
    [{ text: 'WWW' }, ['1', '6', '3']],
    [{ text: 'spf1' }, ['2']],
    [{ text: 'old mach' }, ['3']],
    [{ type: 'MX' }, ['5']],
    [{ proxied: 'yes' as const }, ['4']],
    [{ text: '<b>' }, []],
  ])('are filtered: %j', (filter, expected) => {
    expect(ids(rowsOf(sorted, NO_DRAFT, { ...NO_FILTER, ...filter }))).toEqual(expected);
  });

  it('keep the same value for a record that did not change, so that it is not drawn again', () => {
    const [one] = rowsOf(sorted, NO_DRAFT, NO_FILTER);
    const [again] = rowsOf(sorted, addRow(NO_DRAFT), NO_FILTER).slice(1);
    expect(again?.typed).toBe(one?.typed);
  });
});
