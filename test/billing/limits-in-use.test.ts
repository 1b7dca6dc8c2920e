import { expect, it } from 'vitest';
import { NO_ENTITLEMENTS } from '../../src/billing/entitlements.ts';
import { aboveLimits, cacheCapUnder } from '../../src/billing/limits-in-use.ts';

const PLAN = {
  ...NO_ENTITLEMENTS,
  maxRecords: 10,
  rulesEnabled: true,
  maxRulesPerSet: 2,
  maxCacheCapMb: 512,
};
const IN_USE = { records: 10, rules: new Map([['waf', 2]]), cacheCapMb: 512, hasOwnCertificate: false };

it('finds nothing if every limit is just reached or unlimited', () => {
  expect(aboveLimits(PLAN, IN_USE)).toEqual([]);
  const unlimited = { ...PLAN, maxRecords: null, maxRulesPerSet: null };
  expect(aboveLimits(unlimited, { ...IN_USE, records: 99, rules: new Map([['waf', 99]]) })).toEqual([]);
});

it('lists each exceeded limit with its usage and maximum', () => {
  const rules = new Map([
    ['waf', 3],
    ['drop', 1],
  ]);
  expect(aboveLimits(PLAN, { records: 11, rules, cacheCapMb: 2048, hasOwnCertificate: true })).toEqual([
    { limit: 'max_records', what: 'records', used: 11, allowed: 10 },
    { limit: 'max_rules_per_set', what: 'rules_waf', used: 3, allowed: 2 },
    { limit: 'max_cache_cap_mb', what: 'cache_cap_mb', used: 2048, allowed: 512 },
    { limit: 'custom_ssl_enabled', what: 'certificates', used: 1, allowed: 0 },
  ]);
});

it('does not list the default of cache_cap_mb, which is lowered with the plan', () => {
  const small = { ...PLAN, maxCacheCapMb: 128 };
  expect(aboveLimits(small, IN_USE)).toEqual([]);
  expect(
    [600, 512, 300, 128, 0].map((maxCacheCapMb) => cacheCapUnder({ ...PLAN, maxCacheCapMb }, 512)),
  ).toEqual([512, 512, 256, 128, 128]);
  expect(cacheCapUnder(small, 256)).toBe(256);
});

it('lists all rules if the plan has none', () => {
  expect(aboveLimits({ ...PLAN, rulesEnabled: false }, IN_USE)).toEqual([
    { limit: 'rules_enabled', what: 'rules_waf', used: 2, allowed: 0 },
  ]);
});
