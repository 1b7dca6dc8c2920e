// What a draft keeps of what is typed.

import { describe, expect, it } from 'vitest';
import {
  addRow,
  countsOf,
  deleteRows,
  editRow,
  isEmpty,
  NO_DRAFT,
  undoRow,
  unfinished,
} from '../../../../console/src/screens/records/draft.ts';
import { recordsById, someRecord } from '../../../support/console/records.ts';

const www = someRecord({ id: 7, name: 'www', type: 'A', destination: '192.0.2.7', proxied: true });

describe('a draft', () => {
  it('holds an edit on what the record was, and nothing when it is as before', () => {
    const edited = editRow(NO_DRAFT, '7', www, { destination: '192.0.2.8' });
    expect(edited.edits['7']?.base.destination).toBe('192.0.2.7');
    expect(edited.edits['7']?.now?.destination).toBe('192.0.2.8');
    expect(isEmpty(editRow(edited, '7', www, { destination: '192.0.2.7' }))).toBe(true);
  });

  it('drops what another type does not have', () => {
    const edited = editRow(NO_DRAFT, '7', www, { type: 'TXT' });
    expect(edited.edits['7']?.now?.proxied).toBe(false);
    const mail = editRow(addRow(NO_DRAFT, { type: 'MX', mx_priority: '10' }), 'n1', undefined, {
      type: 'CNAME',
    });
    expect(mail.creates[0]?.typed.mx_priority).toBe('');
  });

  it('deletes records, forgets new rows, and leaves managed ones alone', () => {
    const managed = someRecord({ id: 8, type: 'NS', editable: false });
    const draft = deleteRows(addRow(NO_DRAFT), ['7', '8', 'n1'], recordsById([www, managed]));
    expect(countsOf(draft)).toEqual({ create: 0, update: 0, delete: 1 });
    expect(draft.edits['7']?.now).toBeNull();
    expect(isEmpty(undoRow(draft, '7'))).toBe(true);
  });

  it('never gives a key twice', () => {
    const once = addRow(NO_DRAFT);
    const twice = addRow(undoRow(once, 'n1'));
    expect(twice.creates.map(({ key }) => key)).toEqual(['n2']);
  });

  it('knows which new rows have no value yet', () => {
    const draft = editRow(addRow(addRow(NO_DRAFT)), 'n1', undefined, { destination: '192.0.2.1' });
    expect(unfinished(draft).map(({ key }) => key)).toEqual(['n2']);
  });
});
