import { describe, expect, it } from 'vitest';
import { actorText } from '../../../console/src/screens/history/actor-text.ts';
import { nextCursor } from '../../../console/src/screens/history/next-cursor.ts';
import { revertDraft } from '../../../console/src/screens/history/revert-draft.ts';
import { batchOf } from '../../../console/src/screens/records/batch.ts';
import { rebase } from '../../../console/src/screens/records/conflicts.ts';
import { recordsById, someRecord } from '../../support/console/records.ts';

const nameOf = (account: number) => ({ 2: 'Ann', 3: 'bob@example.org' })[account];

describe('the author of a change', () => {
  it.each([
    [{ kind: 'session', user_id: 1 }, 'You'],
    [{ kind: 'session', user_id: 2 }, 'Ann'],
    [{ kind: 'session', user_id: 3 }, 'bob@example.org'],
    [{ kind: 'session', user_id: 4 }, 'Account 4'],
    [{ kind: 'session' }, 'Someone with access'],
    [{ kind: 'key', user_id: 2, key_id: 7 }, expect.stringContaining('Ann')],
  ] as const)('%j', (actor, text) => expect(actorText(actor, 1, nameOf)).toEqual(text));
});

describe('the next cursor', () => {
  it.each([
    [null, undefined],
    ['', undefined],
    ['</domains/a/changes?limit=2&cursor=abc%3D>; rel="next"', 'abc='],
    ['</a?cursor=1>; rel="prev", </a?x=1,2&cursor=2>; rel="next"', '2'],
    ['</a?cursor=1>; rel="prev"', undefined],
    ['</a>; rel="next"', undefined],
  ])('of %s is %s', (link, cursor) => expect(nextCursor(link)).toBe(cursor));
});

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
  it('deletes created records, restores updated ones, and creates deleted ones', () => {
    expect(batchOf(draft).body).toEqual({
      delete: [1],
      update: [{ id: 2, destination: '192.0.2.2' }],
      create: [{ name: 'old', type: 'A', destination: '192.0.2.3', ttl: 300 }],
    });
  });

  it('applies to the records that the change left, and reports those that changed later', () => {
    expect(rebase(draft, recordsById([made, now])).conflicts).toEqual([]);
    const later = rebase(draft, recordsById([made, { ...now, destination: '192.0.2.10' }]));
    expect(later.conflicts.map(({ key }) => key)).toEqual(['2']);
  });
});
