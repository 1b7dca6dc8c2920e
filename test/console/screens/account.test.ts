import { describe, expect, it } from 'vitest';
import { browserOf } from '../../../console/src/screens/account/browser-of.ts';
import { changedFields } from '../../../console/src/screens/account/changed-fields.ts';
import { inGroups } from '../../../console/src/screens/account/in-groups.ts';
import { endOfKey, listed, problemOfList } from '../../../console/src/screens/account/key-wish.ts';
import { percentOf, subscriptionInForce, wayToBuy } from '../../../console/src/screens/plan/plan-terms.ts';
import { amountIn, rials } from '../../../console/src/screens/wallet/rials.ts';

it('browserOf returns the browser and the system', () => {
  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
  for (const [agent, named] of [
    [`Mozilla/5.0 (Windows NT 10.0) ${webkit} Chrome/130.0 Safari/537.36 Edg/130.0`, 'Edge · Windows'],
    [`Mozilla/5.0 (X11; Linux x86_64) ${webkit} Chrome/130.0 Safari/537.36`, 'Chrome · Linux'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0', 'Firefox · Linux'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 17 like Mac OS X) Version/17 Safari/604', 'Safari · iOS'],
    ['curl/8.5.0', 'curl'],
    ['something', ''],
    [undefined, ''],
  ])
    expect([agent, browserOf(agent)]).toEqual([agent, named]);
});

it('changedFields returns the old and new value of each field', () => {
  expect(changedFields({ role: 'viewer' }, { role: 'editor' })).toEqual(['role: viewer → editor']);
  expect(changedFields(undefined, { names: ['a', 'b'], on: true })).toEqual(['names: ["a","b"]', 'on: true']);
  expect(changedFields({ email: 'a@b.example' }, undefined)).toEqual(['email: a@b.example → —']);
  expect(changedFields(undefined, { by: 'link', otp: false })).toEqual(['by: link']);
  expect(changedFields({ on: true }, { on: false })).toEqual(['on: true → false']);
  expect(changedFields(undefined, undefined)).toEqual([]);
});

it('changedFields truncates long values', () => {
  const [line = ''] = changedFields(undefined, { text: 'x'.repeat(1000) });
  expect(line).toHaveLength('text: '.length + 121);
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}`, i]));
  expect(changedFields(undefined, many)).toHaveLength(8);
});

it('inGroups inserts a space after every fourth character, but not at the end', () => {
  expect(inGroups('ABCDEFGH')).toBe('ABCD EFGH');
  expect(inGroups('ABCDE')).toBe('ABCD E');
  expect(inGroups('ABC')).toBe('ABC');
});

it('listed splits at commas, spaces and line breaks', () => {
  expect(listed(' a.example, b.example;c.example\nd.example ,')).toEqual([
    'a.example',
    'b.example',
    'c.example',
    'd.example',
  ]);
  expect(listed('  ')).toEqual([]);
});

it('endOfKey is relative to now, and absent for a key without end', () => {
  const now = Date.parse('2026-11-28T12:00:00Z');
  expect(endOfKey('7', now)).toBe('2026-12-05T12:00:00.000Z');
  expect(endOfKey('', now)).toBeUndefined();
  expect(endOfKey('0', now)).toBeUndefined();
});

it('problemOfList names the item', () => {
  const fields = [
    { field: 'name', error: 'is needed' },
    { field: 'names[1]', error: 'is no name' },
  ];
  expect(problemOfList(fields, 'names', ['a', 'b c'])).toBe('b c: is no name');
  expect(problemOfList(fields, 'types', ['TXT'])).toBeUndefined();
  expect(problemOfList([{ field: 'types', error: 'too many' }], 'types', [])).toBe('too many');
  expect(problemOfList(undefined, 'types', [])).toBeUndefined();
});

describe('amountIn', () => {
  it('accepts grouped digits, also Persian and Arabic ones', () => {
    for (const text of ['1250000', '1,250,000', '1 250 000', '۱۲۵۰۰۰۰', '۱٬۲۵۰٬۰۰۰', '١٢٥٠٠٠٠'])
      expect(amountIn(text)).toBe(1_250_000);
  });

  it('rejects text that is not a whole amount', () => {
    const wrong = ['', '1250000 rials', '1'.repeat(16), ...'-5 12e3 0x10 abc 10000.50 1,25'.split(' ')];
    for (const text of wrong) expect([text, amountIn(text)]).toEqual([text, undefined]);
  });
});

describe('rials', () => {
  it('groups digits', () => expect(rials(-1_250_000)).toBe('-1,250,000 rials'));
});

const now = Date.parse('2026-11-28T12:00:00Z');
const paid = { status: 'active', plan_term_id: 3, expires_at: '2026-12-28T12:00:00Z' };

describe('wayToBuy', () => {
  it('is a switch while paid time is left', () => {
    expect(wayToBuy(paid, now)).toBe('switch');
    expect(wayToBuy({ ...paid, status: 'cancelled' }, now)).toBe('switch');
  });

  it('is a purchase without paid time, in grace, and after a trial or a plan without a term', () => {
    expect(wayToBuy(undefined, now)).toBe('purchase');
    expect(wayToBuy({ ...paid, status: 'grace', expires_at: '2026-11-27T12:00:00Z' }, now)).toBe('purchase');
    expect(wayToBuy({ ...paid, plan_term_id: undefined }, now)).toBe('purchase');
    expect(wayToBuy({ status: 'active', plan_term_id: 3 }, now)).toBe('purchase');
  });
});

it('subscriptionInForce returns the newest subscription that has not ended', () => {
  const ended = { ...paid, status: 'expired' };
  expect(subscriptionInForce([ended, paid])).toBe(paid);
  expect(subscriptionInForce([ended])).toBeUndefined();
});

it('percentOf is at most 100, and absent without a limit', () => {
  expect(percentOf(50, 200)).toBe(25);
  expect(percentOf(300, 200)).toBe(100);
  expect(percentOf(5, null)).toBeUndefined();
  expect(percentOf(0, 0)).toBe(0);
  expect(percentOf(1, 0)).toBe(100);
});
