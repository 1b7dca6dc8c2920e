// Each item has one result; when the API asks to wait, the item is tried again; an end is an end.

import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../console/src/api/api-error.ts';
import { type EachResult, runEach } from '../../../../console/src/screens/domains/run-each.ts';

const items = Array.from({ length: 20 }, (_, i) => i);

async function run(call: (item: number) => Promise<unknown>, isEnded = () => false) {
  const results: EachResult<number>[] = [];
  const pauses: number[] = [];
  await runEach(items, {
    call,
    isEnded,
    onResult: (result) => results.push(result),
    pause: async (ms) => {
      pauses.push(ms);
    },
  });
  return { results, pauses };
}

describe('runEach', () => {
  it('gives each item its own result', async () => {
    const { results } = await run(async (item) => {
      if (item % 5 === 0) throw new ApiError(409, { error: `${item} is taken` });
    });
    expect(results.map(({ item }) => item).sort((a, b) => a - b)).toEqual(items);
    expect(results.filter(({ error }) => error !== undefined).map(({ item }) => item)).toEqual([
      0, 5, 10, 15,
    ]);
  });

  it('waits as the API asks, and tries the item again', async () => {
    const refused = new Set([3, 4]);
    const { results, pauses } = await run(async (item) => {
      if (refused.delete(item)) throw new ApiError(429, {}, { retryAfter: 2 });
    });
    expect(results).toHaveLength(20);
    expect(results.every(({ error }) => error === undefined)).toBe(true);
    expect(pauses.length).toBeGreaterThan(0);
    expect(new Set(pauses)).toEqual(new Set([2000]));
  });

  it('does not wait for what more time does not mend, nor for ever', async () => {
    const limited = await run(async () => {
      throw new ApiError(429, { code: 'ns_check_limited' }, { retryAfter: 1 });
    });
    expect(limited.pauses).toEqual([]);
    const always = await run(async () => {
      throw new ApiError(429, {}, { retryAfter: 1 });
    });
    expect(always.results).toHaveLength(20);
    expect(always.results.every(({ error }) => error?.status === 429)).toBe(true);
  });

  it('starts nothing more once it is ended', async () => {
    let calls = 0;
    const { results } = await run(
      async () => {
        calls++;
      },
      () => calls >= 5,
    );
    expect(calls).toBe(5);
    expect(results).toHaveLength(5);
  });
});
