// What takes a change back.

import { describe, expect, it } from 'vitest';
import { revertDraft } from '../../../../console/src/screens/history/revert-draft.ts';
import { batchOf } from '../../../../console/src/screens/records/batch.ts';
import { rebase } from '../../../../console/src/screens/records/conflicts.ts';
import { recordsById, someRecord } from '../../../support/console/records.ts';

const made = someRecord({ id: 1, name: 'new' });
const old = someRecord({ id: 2, name: 'www', destination: '192.0.2.2' });
const now = { ...old, destination: '192.0.2.9' };
const gone = someRecord({ id: 3, name: 'old', destination: '192.0.2.3' });
const draft = revertDraft([
  { op: 'create', after: made },
  { op: 'update', before: old, after: now },
  { op: 'delete', before: gone },
]);

describe('the revert of a change', () => {
  it('deletes what came, restores what was, and brings back what went', () => {
    expect(batchOf(draft).body).toEqual({
      delete: [1],
      update: [{ id: 2, destination: '192.0.2.2' }],
      create: [{ name: 'old', type: 'A', destination: '192.0.2.3', ttl: 300 }],
    });
  });

  it('fits the records as the change left them, and tells where a later change touched them', () => {
    expect(rebase(draft, recordsById([made, now])).conflicts).toEqual([]);
    const later = rebase(draft, recordsById([made, { ...now, destination: '192.0.2.10' }]));
    expect(later.conflicts.map(({ key }) => key)).toEqual(['2']);
  });
});
