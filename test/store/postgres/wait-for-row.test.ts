import { expect, it } from 'vitest';
import { waitForRow } from '../../../src/store/postgres/wait-for-row.ts';

const never = new AbortController().signal;

it('ends with the first that is found', async () => {
  let looks = 0;
  const find = async () => (++looks === 3 ? 'found' : undefined);
  expect(await waitForRow(find, { timeoutMs: 20_000, signal: never })).toBe('found');
  expect(looks).toBe(3);
});

it('looks once even without any time, and once more at its end, and fails with what it waits for', async () => {
  let looks = 0;
  const find = async () => void looks++;
  expect(await waitForRow(find, { timeoutMs: 0, signal: never })).toBeUndefined();
  expect(looks).toBe(1);
  expect(await waitForRow(find, { timeoutMs: 20, signal: never })).toBeUndefined();
  expect(looks).toBeGreaterThanOrEqual(3); // a timer may be a little early: then it looks once more
  const broken = () => Promise.reject(new Error('away'));
  await expect(waitForRow(broken, { timeoutMs: 20_000, signal: never })).rejects.toThrow('away');
});
