import { expect, test } from 'vitest';
import {
  backgroundChecks,
  CHECK_DELEGATION,
  CHECK_GROUP,
  groupChecks,
  groupKeyJobs,
  ROLL_KEYS,
} from '../../src/jobs/jobs.ts';

test('background checks with the same turn share jobs of up to eight domains, each with a key of its own', () => {
  const ids = Array.from({ length: 2 * CHECK_GROUP + 1 }, (_, i) => i);
  const jobs = groupChecks(
    backgroundChecks(
      ids,
      ids.map((id) => (id === 3 ? 4 : 10)),
    ),
  );
  expect(jobs).toEqual([
    { domainId: 0, others: [1, 2, 4, 5, 6, 7, 8], kind: 'background', turn: 10 },
    { domainId: 9, others: [10, 11, 12, 13, 14, 15, 16], kind: 'background', turn: 10 },
    { domainId: 3, kind: 'background', turn: 4 },
  ]);
  expect(jobs.map(CHECK_DELEGATION.key)[2]).toBe('check:3');
  expect(new Set(jobs.map(CHECK_DELEGATION.key)).size).toBe(3);
});

test('checks of keys with the same turn share jobs of up to four zones', () => {
  const jobs = groupKeyJobs([1, 2, 3, 4, 5].map((signedZoneId) => ({ signedZoneId, turn: 10 })));
  expect(jobs).toEqual([
    { signedZoneId: 1, others: [2, 3, 4], turn: 10 },
    { signedZoneId: 5, turn: 10 },
  ]);
  expect(jobs.map(ROLL_KEYS.key)).toEqual(['keys:1,2,3,4', 'keys:5']);
});
