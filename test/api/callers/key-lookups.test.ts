import { beforeEach, describe, expect, it } from 'vitest';
import { KeyLookups, WrongKeys } from '../../../src/api/callers/key-lookups.ts';
import { type FoundKey, hashKey } from '../../../src/store/accounts/api-keys.ts';

const valid = { state: 'valid' } as FoundKey;
const revoked = { state: 'revoked' } as FoundKey;

let keys: Map<string, FoundKey>;
let statements: string[][];
let nowMs: number;
let fault: Error | undefined;
let lookups: KeyLookups<FoundKey>;
beforeEach(() => {
  keys = new Map();
  statements = [];
  nowMs = 0;
  fault = undefined;
  lookups = new KeyLookups(
    async (hashes) => {
      statements.push(hashes.map((hash) => hash.toString('hex')));
      if (fault !== undefined) throw fault;
      return keys;
    },
    () => nowMs,
    async (ms) => {
      nowMs += ms;
    },
  );
});

const hex = (text: string) => hashKey(text).toString('hex');
const find = (text: string) => lookups.find(hashKey(text));

describe('key lookups', () => {
  it('find existing keys and no others', async () => {
    keys.set(hex('right'), valid);
    expect(await Promise.all([find('right'), find('wrong'), find('right')])).toEqual([
      valid,
      undefined,
      valid,
    ]);
  });

  it('run a bounded number of statements per second, whatever keys are presented', async () => {
    let presented = 0;
    while (nowMs < 10_000) await Promise.all(Array.from({ length: 100 }, () => find(`wrong ${presented++}`)));
    expect(presented).toBeGreaterThan(10_000);
    expect(statements.length).toBeLessThanOrEqual((10 + 1) * 20 + 1);
  });

  it('share one query for a key that many requests present concurrently', async () => {
    await Promise.all(Array.from({ length: 1000 }, () => find('wrong')));
    expect(statements.flat().filter((hash) => hash === hex('wrong')).length).toBeLessThanOrEqual(2);
  });

  it('do not delay a known key behind wrong ones, and look it up each time', async () => {
    keys.set(hex('right'), valid);
    await find('right');
    const order: string[] = [];
    const wrong = Array.from({ length: 5000 }, (_, i) => find(`wrong ${i}`).then(() => order.push('wrong')));
    await find('right').then(() => order.push('right'));
    await Promise.all(wrong);
    expect(order[0]).toBe('right');
    expect(statements.filter((hashes) => hashes.includes(hex('right')))).toHaveLength(2);
  });

  it('find a new key immediately, even if it was unknown a moment ago', async () => {
    expect(await find('later')).toBeUndefined();
    keys.set(hex('later'), valid);
    expect(await find('later')).toBe(valid);
  });

  it('forget a revoked key', async () => {
    keys.set(hex('right'), valid);
    await find('right');
    keys.set(hex('right'), revoked);
    expect(await find('right')).toBe(revoked);
  });

  it('reject all waiters while the database is unavailable, and work again afterwards', async () => {
    fault = new Error('away');
    const told = await Promise.allSettled([find('a'), find('b')]);
    expect(told.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fault = undefined;
    expect(await find('a')).toBeUndefined();
  });
});

let clockMs = 0;
const fresh = () => {
  clockMs = 0;
  return new WrongKeys(() => clockMs);
};
const key = (i: number) => hashKey(`key ${i}`);

it('a network may send some wrong keys per minute, and is then refused with the time to wait', () => {
  const wrong = fresh();
  for (let i = 0; i < 30; i++) expect(wrong.note('192.0.2.1', key(i))).toBeUndefined();
  clockMs = 15_000;
  expect(wrong.note('192.0.2.1', key(0))).toBe(45);
  expect(wrong.note('192.0.2.2', key(0))).toBeUndefined();
  clockMs = 60_000;
  expect(wrong.note('192.0.2.1', key(0))).toBeUndefined();
});

it('the addresses of an IPv6 /64 count as one network', () => {
  const wrong = fresh();
  for (let i = 0; i < 30; i++) wrong.note(`2001:db8::${i.toString(16)}`, key(i));
  expect(wrong.note('2001:db8::ffff', key(0))).toBe(60);
  expect(wrong.note('2001:db8:0:1::1', key(0))).toBeUndefined();
});

it('a repeated wrong key is refused from memory for a second if its network is beyond the limit', () => {
  const wrong = fresh();
  for (let i = 0; i <= 30; i++) wrong.note('192.0.2.1', key(i));
  expect(wrong.judge('192.0.2.1', key(3))).toBe(60);
  expect(wrong.judge('192.0.2.1', hashKey('another key behind that address'))).toBeUndefined();
  expect(wrong.judge('192.0.2.2', key(3))).toBeUndefined();
  clockMs = 1000;
  expect(wrong.judge('192.0.2.1', key(3))).toBeUndefined();
});

it('a bounded number of keys and networks is stored', () => {
  const wrong = fresh();
  for (let i = 0; i < 21_000; i++) wrong.note(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, key(i));
  expect(wrong.size).toBe(20_000);
});
