import { expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { alignTtls } from '../../../src/dns/zone-file/align-ttls.ts';

const [A_NAME, B_NAME] = [parseName('a.example.'), parseName('b.example.')];

it('gives every record of a set the TTL of its first, and leaves other sets alone', () => {
  const records = [
    { owner: A_NAME, type: TYPE.A, ttl: 60 },
    { owner: B_NAME, type: TYPE.A, ttl: 300 },
    { owner: A_NAME, type: TYPE.TXT, ttl: 120 },
    { owner: A_NAME, type: TYPE.A, ttl: 900 },
    { owner: B_NAME, type: TYPE.A, ttl: 0 },
  ];
  alignTtls(records);
  expect(records.map(({ ttl }) => ttl)).toEqual([60, 300, 120, 60, 300]);
});

it('has nothing to do for none', () => {
  expect(() => alignTtls([])).not.toThrow();
});
