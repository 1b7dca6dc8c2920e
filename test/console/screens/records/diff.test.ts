// What a change does, record by record.

import { describe, expect, it } from 'vitest';
import {
  compareNames,
  differencesOf,
  differencesOfChange,
  reversed,
  tally,
} from '../../../../console/src/screens/records/diff.ts';
import { addRow, deleteRows, editRow, NO_DRAFT } from '../../../../console/src/screens/records/draft.ts';
import { recordsById, someRecord } from '../../../support/console/records.ts';

const one = someRecord({ id: 1, name: 'www' });
const two = someRecord({ id: 2, name: '@' });

describe('differences', () => {
  it('of a draft are those that are saved, by name', () => {
    const typed = addRow(addRow(NO_DRAFT, { name: 'new', destination: '192.0.2.9' }), { name: 'idle' });
    const draft = deleteRows(editRow(typed, '1', one, { ttl: '60' }), ['2'], recordsById([one, two]));
    const found = differencesOf(draft);
    expect(found.map(({ op, key }) => [op, key])).toEqual([
      ['delete', '2'],
      ['create', 'n1'],
      ['update', '1'],
    ]);
    expect(found[2]?.fields).toEqual(['ttl']);
    expect(tally(found)).toEqual({ create: 1, update: 1, delete: 1 });
  });

  it('of a change are turned around by its revert', () => {
    const made = differencesOfChange([
      { after: one },
      { before: two, after: { ...two, destination: '192.0.2.5' } },
    ]);
    const back = reversed(made);
    expect(back.map(({ op }) => op)).toEqual(['update', 'delete']);
    expect(back[0]?.after?.destination).toBe('192.0.2.1');
    expect(reversed(back)).toEqual(made);
  });

  it('are in the order of names: from the right, the apex first', () => {
    const names = ['www', 'a.www', '@', 'b', 'a.b', 'zz.a.b', '*.b'];
    expect([...names].sort(compareNames)).toEqual(['@', 'b', '*.b', 'a.b', 'zz.a.b', 'www', 'a.www']);
  });
});
