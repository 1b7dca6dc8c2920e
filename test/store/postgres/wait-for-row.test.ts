import { expect, it } from 'vitest';
import { waitForRow } from '../../../src/store/postgres/wait-for-row.ts';

const never = new AbortController().signal;

it('returns the first row that is found', async () => {
  let looks = 0;
  const find = async () => (++looks === 3 ? 'found' : undefined);
  expect(await waitForRow(find, { timeoutMs: 20_000, signal: never })).toBe('found');
  expect(looks).toBe(3);
});

it('polls at least once and once more at the end, and rethrows errors of its query', async () => {
  let looks = 0;
  const find = async () => void looks++;
  expect(await waitForRow(find, { timeoutMs: 0, signal: never })).toBeUndefined();
  expect(looks).toBe(1);
  expect(await waitForRow(find, { timeoutMs: 20, signal: never })).toBeUndefined();
  expect(looks).toBeGreaterThanOrEqual(3); // a timer may fire a little early, which causes another poll
  const broken = () => Promise.reject(new Error('away'));
  await expect(waitForRow(broken, { timeoutMs: 20_000, signal: never })).rejects.toThrow('away');
});
