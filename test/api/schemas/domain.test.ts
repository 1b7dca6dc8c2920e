import { expect, it } from 'vitest';
import type { z } from 'zod';
import { DomainCreate, DomainEnable, DomainUpdate } from '../../../src/api/schemas/domain.ts';

function wrongFields(schema: z.ZodType, body: unknown): string[] {
  const { error } = schema.safeParse(body);
  const fields = error?.issues.map(({ path, ...issue }) => ('keys' in issue ? issue.keys : path).join('.'));
  return [...new Set(fields)];
}

const NO_BOOLEAN = [null, 'true', 0, 1, {}, []];
const noNumber = (...more: unknown[]) => [null, '5', true, 1.5, {}, [], ...more];

it.each<[field: string, values: unknown[]]>([
  ['name', [undefined, null, 1, true, {}, [], ['a.com'], '', 'x'.repeat(1025)]],
  ['dns_mode', [null, '', 'Managed', 'both', 1, true, {}, []]],
  ['scan', NO_BOOLEAN],
  ['transfer', NO_BOOLEAN],
  ['colour', ['red', null]],
  ['id', [1]],
  ['status', ['active']],
])('a new domain with a wrong %s is refused', (field, values) => {
  for (const value of values)
    expect([value, wrongFields(DomainCreate, { name: 'a.com', [field]: value })]).toEqual([value, [field]]);
});

it('a new domain is managed, scanned and no transfer by default', () => {
  const defaults = { dns_mode: 'managed', scan: true, transfer: false };
  expect(DomainCreate.parse({ name: 'a.com' })).toEqual({ name: 'a.com', ...defaults });
});

it.each([
  { denial: 'nsec5' },
  { split: 'x' },
  { way: 'x' },
  { algorithm: 8 },
  'yes',
  null,
])('a new domain with dnssec %j is refused', (dnssec) =>
  expect(wrongFields(DomainCreate, { name: 'a.com', dnssec })).toHaveLength(1));

it.each([
  { transfer: 1 },
  { transfer: null },
  { wait: true },
])('a request to enable %j is refused', (body) => {
  expect(wrongFields(DomainEnable, body)).toEqual(Object.keys(body));
});

it.each<[field: string, values: unknown[]]>([
  ['dns_mode', [null, '', 'Managed', 'none', 1, true, {}, []]],
  ['cache_l2_max_gb', noNumber(-1, 1_000_001, 1e300)],
  ['cache_l2_ttl_days', noNumber(0, 8, -1)],
  ['cache_cap_mb', noNumber(0, 127, 129, 1024, 8192, -128, '128')],
  ['sec_no_sniff', NO_BOOLEAN],
  ['sec_referrer_policy', NO_BOOLEAN],
  ['sec_strip_headers', NO_BOOLEAN],
  ['markdown_for_agents', NO_BOOLEAN],
  ['outage_alerts', NO_BOOLEAN],
  ['uptime_threshold_pct', noNumber(49, 101)],
  ['uptime_window_min', noNumber(1, 61)],
  ['uptime_min_requests', noNumber(-1, 1_000_000_001)],
  ['uptime_min_active_min', noNumber(0, 61)],
  ['uptime_recover_min', noNumber(0, 1441)],
  ['developer_mode_until', ['soon', 1]],
  ['svc_ns', [null, 'ns1.example.net', 1, {}]],
  ['svc_ns.0', [[1, 'ns2.example.net']]],
  ['svc_ns.1', [['ns1.example.net', null]]],
  ['colour', ['red', null]],
  ['Dns_Mode', ['managed']],
  ['max_records', [5]],
])('an update with a wrong %s is refused', (field, values) => {
  const [member = ''] = field.split('.');
  for (const value of values)
    expect([value, wrongFields(DomainUpdate, { [member]: value })]).toEqual([value, [field]]);
});

it('an update accepts the limits of each setting', () => {
  const least = {
    cache_l2_max_gb: 0,
    cache_l2_ttl_days: 1,
    cache_cap_mb: 128,
    uptime_threshold_pct: 50,
    uptime_window_min: 2,
    uptime_min_requests: 0,
    uptime_min_active_min: 1,
    uptime_recover_min: 1,
  };
  const most = {
    cache_l2_max_gb: 1_000_000,
    cache_l2_ttl_days: 7,
    cache_cap_mb: 4096,
    uptime_threshold_pct: 100,
    uptime_window_min: 60,
    uptime_min_requests: 1_000_000_000,
    uptime_min_active_min: 60,
    uptime_recover_min: 1440,
  };
  for (const body of [least, most, { cache_cap_mb: 256 }, { cache_cap_mb: 512 }, { cache_cap_mb: 2048 }])
    expect(wrongFields(DomainUpdate, body)).toEqual([]);
});

it('an update may contain the read-only members of a domain, with any value', () => {
  const facts = {
    id: 1,
    name: 'x',
    status: 'active',
    serial: null,
    my_role: [],
    findings: 3,
    ssl: 1,
    records: 'x',
  };
  expect(wrongFields(DomainUpdate, facts)).toEqual([]);
});
