import { describe, expect, it } from 'vitest';
import { addRow, deleteRows, NO_DRAFT } from '../../../console/src/screens/records/draft.ts';
import { relativeName } from '../../../console/src/screens/records/owner-name.ts';
import { noteOf } from '../../../console/src/screens/records/row-note.ts';
import { warningsByRow } from '../../../console/src/screens/records/row-warnings.ts';
import { NO_FILTER, rowsOf } from '../../../console/src/screens/records/rows.ts';
import { recordsById, someRecord } from '../../support/console/records.ts';

const records = [
  someRecord({ id: 1, name: '@', type: 'MX', destination: 'mx1.example.net', mx_priority: 10 }),
  someRecord({ id: 2, name: '@', type: 'MX', destination: 'mx2.example.net', mx_priority: 20 }),
  someRecord({ id: 3, name: 'www' }),
];
const draft = addRow(NO_DRAFT, { name: 'Shop.example.test.', type: 'CNAME', destination: 'host.test' });
const rows = rowsOf(records, draft, NO_FILTER);
const warn = (name: string, type: string, message: string) => ({ name, type, message });
const found = (...warnings: ReturnType<typeof warn>[]) => [...warningsByRow(warnings, rows, 'example.test')];

describe('a warning', () => {
  it('belongs to the row whose value it mentions', () => {
    expect(found(warn('@', 'MX', 'MX2.example.net. has no address'))).toEqual([
      ['2', ['MX2.example.net. has no address']],
    ]);
  });

  it('belongs to all rows of its name and type if it mentions no value', () => {
    expect(found(warn('@', 'MX', 'Other')).map(([key]) => key)).toEqual(['1', '2']);
  });

  it('belongs to a new row whose name is typed in another form', () => {
    expect(found(warn('shop', 'CNAME', 'Other')).map(([key]) => key)).toEqual(['n1']);
  });

  it('is shown once if it was reported twice', () => {
    expect(found(warn('www', 'A', 'Other'), warn('www', 'A', 'Other'))).toEqual([['3', ['Other']]]);
  });

  it('belongs to no row if its record is to be deleted or does not exist', () => {
    const without = rowsOf(records, deleteRows(NO_DRAFT, ['3'], recordsById(records)), NO_FILTER);
    const warnings = [warn('www', 'A', 'Other'), warn('ftp', 'A', 'Other')];
    expect(warningsByRow(warnings, without, 'example.test').size).toBe(0);
  });
});

it.each([
  ['', '@'],
  ['@', '@'],
  ['example.test', '@'],
  ['WWW', 'www'],
  ['www.example.test.', 'www'],
  ['xn--bcher-kva', 'bücher'],
  ['myexample.test', 'myexample.test'],
])('the name "%s" is %s relative to the domain', (name, relative) =>
  expect(relativeName(name, 'example.test')).toBe(relative));

describe('the message of a row', () => {
  const none = { problems: undefined, warnings: undefined, conflict: undefined };

  it('is undefined without errors and warnings', () => expect(noteOf(none)).toBeUndefined());

  it('shows errors before warnings', () => {
    const warnings = ['careful'];
    expect(noteOf({ ...none, warnings })).toEqual({ tone: 'warn', messages: warnings });
    expect(noteOf({ ...none, warnings, problems: [{ message: 'wrong' }] })).toEqual({
      tone: 'bad',
      messages: ['wrong'],
    });
  });
});
