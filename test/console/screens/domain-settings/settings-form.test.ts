import { describe, expect, it } from 'vitest';
import {
  changesOf,
  FIELDS,
  type FieldName,
  GROUPS,
  shownIn,
  type Values,
} from '../../../../console/src/screens/domain-settings/settings-form.ts';
import { domainSettings } from '../../../../console/src/words/domain-settings.ts';
import { DomainUpdate } from '../../../../src/api/schemas/domain.ts';

const VALUES: Values = {
  cache_l2_max_gb: 10,
  cache_l2_ttl_days: 7,
  cache_cap_mb: 512,
  sec_no_sniff: false,
  sec_referrer_policy: false,
  sec_strip_headers: true,
  markdown_for_agents: false,
  outage_alerts: true,
  uptime_threshold_pct: 80,
  uptime_window_min: 5,
  uptime_min_requests: 20,
  uptime_min_active_min: 3,
  uptime_recover_min: 3,
};
const ALL = Object.keys(FIELDS) as FieldName[];

describe('changesOf', () => {
  it('returns only values that differ from the domain', () => {
    const draft = {
      cache_l2_max_gb: ' 25 ',
      cache_l2_ttl_days: '7',
      sec_no_sniff: true,
      sec_strip_headers: true,
    };
    expect(changesOf(ALL, draft, VALUES)).toEqual({
      body: { cache_l2_max_gb: 25, sec_no_sniff: true },
      wrong: {},
    });
  });

  it('ignores fields of other groups', () => {
    expect(changesOf(GROUPS.headers, { cache_l2_max_gb: '25' }, VALUES)).toEqual({ body: {}, wrong: {} });
  });

  it.each(['', 'ten', '1.5', '-1', '1e3', '99999999999'])('rejects %j as a number', (typed) => {
    const { body, wrong } = changesOf(['uptime_window_min'], { uptime_window_min: typed }, VALUES);
    expect([body, wrong]).toEqual([{}, { uptime_window_min: { min: 2, max: 60 } }]);
  });
});

describe('the fields', () => {
  it('belong to one group each, and have texts', () => {
    expect(Object.values(GROUPS).flat().sort()).toEqual([...ALL].sort());
    expect(Object.keys(domainSettings.fields).sort()).toEqual([...ALL].sort());
  });

  it('have the bounds of the API', () => {
    for (const field of ALL) {
      const of = FIELDS[field];
      const takes = (value: number | boolean) => DomainUpdate.safeParse({ [field]: value }).success;
      if (of.kind === 'switch') expect([takes(true), takes(false)], field).toEqual([true, true]);
      else if (of.kind === 'size')
        expect([...of.sizes, 129].map(takes), field).toEqual([...of.sizes.map(() => true), false]);
      else {
        const asked = [of.min, of.max, of.min - 1, of.max + 1].map(takes);
        expect(asked, field).toEqual([true, true, false, false]);
      }
    }
  });

  it('are all settings of owners, except those with their own form', () => {
    const apart = ['dns_mode', 'svc_ns', 'developer_mode_until'];
    const settable = Object.entries(DomainUpdate.shape)
      .filter(([, schema]) => schema.description !== 'Read-only. A request that sets it is refused.')
      .map(([name]) => name);
    expect(settable.sort()).toEqual([...ALL, ...apart].sort());
  });
});

it('shownIn returns the typed value, or the value of the domain', () => {
  expect(shownIn('cache_cap_mb', {}, VALUES)).toBe('512');
  expect(shownIn('cache_cap_mb', { cache_cap_mb: 'x' }, VALUES)).toBe('x');
  expect(shownIn('outage_alerts', { outage_alerts: false }, VALUES)).toBe(false);
});
