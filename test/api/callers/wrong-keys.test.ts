import { expect, it } from 'vitest';
import { WrongKeys } from '../../../src/api/callers/wrong-keys.ts';
import { hashKey } from '../../../src/store/accounts/api-keys.ts';

let nowMs = 0;
const fresh = () => {
  nowMs = 0;
  return new WrongKeys(() => nowMs);
};
const key = (i: number) => hashKey(`key ${i}`);

it('a network may send some wrong keys a minute; then it is told how long to wait', () => {
  const wrong = fresh();
  for (let i = 0; i < 30; i++) expect(wrong.note('192.0.2.1', key(i))).toBeUndefined();
  nowMs = 15_000;
  expect(wrong.note('192.0.2.1', key(0))).toBe(45);
  expect(wrong.note('192.0.2.2', key(0))).toBeUndefined();
  nowMs = 60_000;
  expect(wrong.note('192.0.2.1', key(0))).toBeUndefined();
});

it('the addresses of an IPv6 /64 are one', () => {
  const wrong = fresh();
  for (let i = 0; i < 30; i++) wrong.note(`2001:db8::${i.toString(16)}`, key(i));
  expect(wrong.note('2001:db8::ffff', key(0))).toBe(60);
  expect(wrong.note('2001:db8:0:1::1', key(0))).toBeUndefined();
});

it('a wrong key asked again is refused from memory, by a network beyond its limit and for a second', () => {
  const wrong = fresh();
  for (let i = 0; i <= 30; i++) wrong.note('192.0.2.1', key(i));
  expect(wrong.judge('192.0.2.1', key(3))).toBe(60);
  expect(wrong.judge('192.0.2.1', hashKey('another key behind that address'))).toBeUndefined();
  expect(wrong.judge('192.0.2.2', key(3))).toBeUndefined();
  nowMs = 1000;
  expect(wrong.judge('192.0.2.1', key(3))).toBeUndefined();
});

it('it remembers a bounded number of keys and networks', () => {
  const wrong = fresh();
  for (let i = 0; i < 21_000; i++) wrong.note(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, key(i));
  expect(wrong.size).toBe(20_000);
});
