// What the chaos suite's witness concludes from passages through a door.

import { expect, test } from 'vitest';
import { Door, type Heard } from './door.ts';
import type { Scenario } from './scenario.ts';
import { printTable } from './table.ts';
import type { Seen } from './witness.ts';

/** Each request: when it was sent, when it was answered or given up, what came. */
function after(...passages: readonly (readonly [number, number, Heard])[]): Door {
  const door = new Door();
  for (const [sentAtMs, doneAtMs, heard] of passages) door.note(heard, { sentAtMs, doneAtMs });
  return door;
}

test('a door recovers when the first request sent after the newest failure is answered', () => {
  expect(after([0, 1, 'right']).recoveredAtMs()).toBe(0);
  expect(after([0, 1, 'right'], [10, 2010, 'lost'], [20, 25, 'right']).recoveredAtMs()).toBe(25);
  expect(after([10, 2010, 'lost'], [20, 25, 'right'], [30, 31, 'wrong']).recoveredAtMs()).toBeUndefined();
});

test('an answer to an earlier request does not count as recovery, however late it comes', () => {
  const door = after([10, 11, 'lost'], [5, 40, 'right']);
  expect(door.recoveredAtMs()).toBeUndefined();
  expect(door.worksSince(0)).toBe(false);
});

const scenario: Scenario = { name: 'fault', attack: 'a fault', run: async () => [] };
const fine: Seen = {
  asked: 10,
  lost: 1,
  wrong: 0,
  worstDnsMs: 1,
  reads: 5,
  readsFailed: 0,
  worstReadMs: 2,
  editsAcknowledged: 3,
  editsRefused: 0,
  editsLost: 0,
  recoverySeconds: 0.2,
};
const isMet = (seen: Partial<Seen>, figures: { label: string; text: string; isMet: boolean }[] = []) =>
  printTable([{ scenario, outcome: 'seen', seen: { ...fine, ...seen }, figures }]).isAllMet;

test('a wrong answer, a lost or refused edit, no recovery and a figure that is not met each fail the run', () => {
  expect(isMet({})).toBe(true);
  expect(isMet({ wrong: 1 })).toBe(false);
  expect(isMet({ editsLost: 1 })).toBe(false);
  expect(isMet({ editsRefused: 1 })).toBe(false);
  expect(isMet({ editsAcknowledged: 0 })).toBe(false);
  expect(isMet({ recoverySeconds: undefined })).toBe(false);
  expect(isMet({}, [{ label: 'away', text: '3 s', isMet: false }])).toBe(false);
  expect(printTable([{ scenario, outcome: 'broken', why: 'it fell over' }]).isAllMet).toBe(false);
});
