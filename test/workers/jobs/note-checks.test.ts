import { expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import type { NotedDomain } from '../../../src/store/checks/due-child-checks.ts';
import type { CheckOutcome } from '../../../workers/jobs/check-delegation.ts';
import { CheckNotes } from '../../../workers/jobs/note-checks.ts';
import { evidenceOf } from '../../support/world/made-checks.ts';

const outcome = (
  domainId: number,
  kind: 'background' | 'manual',
  verdict: 'match' | 'unknown' = 'match',
): CheckOutcome => ({
  kind: 'saved',
  job: { domainId, kind },
  name: 'example.com.',
  checkId: 1,
  evidence: evidenceOf(parseName('example.com.'), 'timeout'),
  verdict,
  transition: undefined,
  others: [],
});

async function flushed(notes: CheckNotes): Promise<readonly NotedDomain[]> {
  let noted: readonly NotedDomain[] = [];
  await notes.flush(async (all) => {
    noted = all;
  });
  return noted;
}

test('saved conclusive checks are recorded, each domain once', async () => {
  const notes = new CheckNotes();
  notes.add(outcome(1, 'background'));
  notes.add(outcome(1, 'manual'));
  notes.add(outcome(1, 'background'));
  notes.add(outcome(2, 'background'));
  notes.add(outcome(3, 'manual', 'unknown'));
  notes.add({ kind: 'conflict', job: { domainId: 4, kind: 'manual' } });
  expect(await flushed(notes)).toEqual([
    { domainId: 1, isByHand: true },
    { domainId: 2, isByHand: false },
  ]);
  expect(await flushed(notes)).toEqual([]);
});

test('notes that could not be saved are kept, and merged with new ones', async () => {
  const notes = new CheckNotes();
  notes.add(outcome(1, 'manual'));
  const failing = notes.flush(async () => {
    notes.add(outcome(1, 'background'));
    notes.add(outcome(2, 'background'));
    throw new Error('gone');
  });
  await expect(failing).rejects.toThrow('gone');
  expect(await flushed(notes)).toEqual([
    { domainId: 1, isByHand: true },
    { domainId: 2, isByHand: false },
  ]);
});

test('the number of notes is limited', async () => {
  const notes = new CheckNotes();
  for (let id = 0; id < 25_000; id++) notes.add(outcome(id, 'background'));
  expect(await flushed(notes)).toHaveLength(20_000);
});
