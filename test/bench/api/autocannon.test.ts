import { describe, expect, it } from 'vitest';
import { readAnswered } from '../../../bench/api/autocannon.ts';

const told = (counts: object) =>
  JSON.stringify({
    requests: { average: 12.5 },
    latency: { p50: 8 },
    errors: 0,
    '2xx': 100,
    non2xx: 0,
    ...counts,
  });

describe('the output of autocannon', () => {
  it('is parsed, also after other text', () => {
    expect(readAnswered(told({}))).toEqual({ requestsPerSecond: 12.5, p50Ms: 8 });
    expect(readAnswered(`a warning\n${told({ errors: 5 })}`).requestsPerSecond).toBe(12.5);
  });

  it.each([{ non2xx: 1 }, { errors: 6 }, { '2xx': 0 }])('yields no figure if calls fail: %j', (counts) => {
    expect(() => readAnswered(told(counts))).toThrow('autocannon');
  });
});
