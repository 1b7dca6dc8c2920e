// Somebody else changes a record between the beginning of an edit and its save.

import { describe, expect, it } from 'vitest';
import { keepMine, rebase, takeTheirs } from '../../../../console/src/screens/records/conflicts.ts';
import { deleteRows, editRow, isEmpty, NO_DRAFT } from '../../../../console/src/screens/records/draft.ts';
import { recordsById, someRecord } from '../../../support/console/records.ts';

const base = someRecord({ id: 1, destination: '192.0.2.1', ttl: 300 });
const mine = editRow(NO_DRAFT, '1', base, { destination: '192.0.2.2' });
const now = (set: Parameters<typeof someRecord>[0]) => recordsById([{ ...base, ...set }]);

describe('a draft on records that changed', () => {
  it('stays as it is when nothing changed', () => {
    const { draft, conflicts } = rebase(mine, now({}));
    expect(draft).toBe(mine);
    expect(conflicts).toEqual([]);
  });

  it('moves onto a change of another field', () => {
    const { draft, conflicts } = rebase(mine, now({ ttl: 60 }));
    expect(conflicts).toEqual([]);
    expect(draft.edits['1']?.now).toMatchObject({ destination: '192.0.2.2', ttl: '60' });
    expect(draft.edits['1']?.base.ttl).toBe('60');
  });

  it('has nothing left to do when somebody else made the same change', () => {
    expect(isEmpty(rebase(mine, now({ destination: '192.0.2.2' })).draft)).toBe(true);
  });

  it('tells a change of the same field, and keeps what was typed', () => {
    const { draft, conflicts } = rebase(mine, now({ destination: '192.0.2.3', ttl: 60 }));
    expect(draft).toBe(mine);
    expect(conflicts).toMatchObject([{ key: '1', kind: 'changed', fields: ['destination'] }]);
    const kept = rebase(keepMine(draft, conflicts[0]!), now({ destination: '192.0.2.3', ttl: 60 }));
    expect(kept.conflicts).toEqual([]);
    expect(kept.draft.edits['1']?.now).toMatchObject({ destination: '192.0.2.2', ttl: '60' });
    expect(isEmpty(takeTheirs(draft, conflicts[0]!))).toBe(true);
  });

  it('keeps edits of other fields when theirs is taken', () => {
    const both = editRow(mine, '1', base, { comment: 'mine' });
    const { draft, conflicts } = rebase(both, now({ destination: '192.0.2.3' }));
    expect(takeTheirs(draft, conflicts[0]!).edits['1']?.now).toMatchObject({
      destination: '192.0.2.3',
      comment: 'mine',
    });
  });

  it('tells that a record is gone, and can add it again', () => {
    const { draft, conflicts } = rebase(mine, recordsById([]));
    expect(conflicts).toMatchObject([{ key: '1', kind: 'deleted' }]);
    const again = keepMine(draft, conflicts[0]!);
    expect(again.edits).toEqual({});
    expect(again.creates).toMatchObject([{ typed: { destination: '192.0.2.2' } }]);
    expect(isEmpty(takeTheirs(draft, conflicts[0]!))).toBe(true);
  });

  it('asks before it deletes what somebody else has just changed', () => {
    const gone = deleteRows(NO_DRAFT, ['1'], recordsById([base]));
    expect(isEmpty(rebase(gone, recordsById([])).draft)).toBe(true);
    const { draft, conflicts } = rebase(gone, now({ ttl: 60 }));
    expect(conflicts).toMatchObject([{ kind: 'changed', mine: null, fields: ['ttl'] }]);
    expect(rebase(keepMine(draft, conflicts[0]!), now({ ttl: 60 }))).toMatchObject({ conflicts: [] });
  });
});
