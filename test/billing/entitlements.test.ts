import { describe, expect, it } from 'vitest';
import {
  type Entitlements,
  entitlementsOf,
  judgeEntitlement,
  NO_ENTITLEMENTS,
} from '../../src/billing/entitlements.ts';

const PLAN: Entitlements & { slug: string } = { ...NO_ENTITLEMENTS, maxRecords: 200, slug: 'free' };

describe('the entitlements of a domain', () => {
  it('are those of its plan, overridden by valid values of its subscription', () => {
    expect(entitlementsOf(PLAN, null)).toBe(PLAN);
    const own = entitlementsOf(PLAN, { max_records: null, logs_enabled: true });
    expect(own).toEqual({ ...PLAN, maxRecords: null, logsEnabled: true });
    expect(PLAN.maxRecords).toBe(200);
    const wrong = { max_records: -1, max_cache_cap_mb: null, logs_enabled: 1, slug: 'pro', id: 9 };
    expect(entitlementsOf(PLAN, wrong as object)).toEqual(PLAN);
  });

  it.each([
    ['max_records', 500, undefined],
    ['max_records', null, undefined],
    ['max_records', 1.5, 'expected a whole number'],
    ['max_records', '5', 'expected a whole number'],
    ['max_records', 2 ** 31, 'expected a whole number'],
    ['max_cache_cap_mb', null, 'expected a whole number from 0 to 2147483647'],
    ['ws_enabled', false, undefined],
    ['ws_enabled', null, 'expected true or false'],
    ['max_record', 5, 'is not an entitlement: expected one of max_records, max_traffic_gb'],
    ['constructor', 5, 'is not an entitlement'],
  ])('%s with the value %s: %s', (name, value, fault) => {
    const said = judgeEntitlement(name, value);
    if (fault === undefined) expect(said).toBeUndefined();
    else expect(said).toContain(fault);
  });
});
