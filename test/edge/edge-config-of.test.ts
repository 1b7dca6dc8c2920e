import { describe, expect, it } from 'vitest';
import { type EdgeDomain, edgeConfigOf, type ProxiedRecord } from '../../src/edge/edge-config-of.ts';

const DOMAIN: EdgeDomain = {
  id: 7,
  name: 'example.com.',
  status: 'active',
  suspended: false,
  settings: {
    cache_l2_max_gb: 1,
    cache_l2_ttl_days: 2,
    cache_cap_mb: 3,
    sec_no_sniff: true,
    sec_referrer_policy: false,
    sec_strip_headers: true,
    markdown_for_agents: true,
  },
  developerModeUntil: null,
  plan: { wsEnabled: true },
};
const RECORD: ProxiedRecord = {
  id: 1,
  name: 'www.example.com.',
  destination: '192.0.2.9',
  scheme: 'Default',
  port: 443,
  host_header: null,
  timeout: 15,
  captcha: false,
  monitor: false,
};
const configOf = (domain: Partial<EdgeDomain> = {}, records: readonly Partial<ProxiedRecord>[] = []) =>
  edgeConfigOf({
    domain: { ...DOMAIN, ...domain },
    records: records.map((record) => ({ ...RECORD, ...record })),
    rules: [],
    http01: [],
    certificates: [],
  });

describe('what edges are told of a domain', () => {
  it('has its name without the final dot, and its settings; what is unset is absent', () => {
    expect(configOf()).toEqual({
      domain_id: 7,
      domain: 'example.com',
      status: 'active',
      suspended: false,
      settings: { ...DOMAIN.settings, websockets: true },
      hosts: [],
      rules: [],
      http01: [],
      certificates: [],
    });
    const until = new Date('2030-01-02T03:04:05Z');
    expect(configOf({ developerModeUntil: until }).settings.developer_mode_until).toBe(
      '2030-01-02T03:04:05.000Z',
    );
  });

  it('has a host for each proxied name, with an origin for each of its records', () => {
    const { hosts } = configOf({}, [
      { id: 5, name: 'www.example.com.' },
      {
        id: 3,
        name: 'www.example.com.',
        destination: '2001:db8::1',
        scheme: 'Https',
        host_header: 'in.example.net',
      },
      {
        id: 4,
        name: '*.example.com.',
        destination: 'origin.example.net.',
        captcha: true,
        port: 8080,
        monitor: true,
      },
    ]);
    expect(hosts.map(({ host }) => host)).toEqual(['*.example.com', 'www.example.com']);
    expect(hosts[0]).toEqual({
      host: '*.example.com',
      captcha: true,
      origins: [
        {
          record_id: 4,
          destination: 'origin.example.net',
          scheme: 'default',
          port: 8080,
          timeout_seconds: 15,
          monitor: true,
        },
      ],
    });
    expect(hosts[1]?.origins.map((origin) => origin.record_id)).toEqual([3, 5]);
    expect(hosts[1]?.origins[0]).toMatchObject({ scheme: 'https', host_header: 'in.example.net' });
    expect(hosts[1]?.captcha).toBe(false);
  });

  it('asks visitors of a host for a challenge when one of its records does', () => {
    expect(configOf({}, [{ id: 1 }, { id: 2, captcha: true }]).hosts[0]?.captcha).toBe(true);
  });

  it('has no host that no request can have', () => {
    const names = [
      'a\\032b.example.com.',
      'caf\\195\\169.example.com.',
      'x/y.example.com.',
      '_ok.example.com.',
    ];
    expect(
      configOf(
        {},
        names.map((name) => ({ name })),
      ).hosts.map(({ host }) => host),
    ).toEqual(['_ok.example.com']);
  });

  it('has no WebSocket without the plan that includes it, and Markdown only with an active plan', () => {
    expect(configOf({ plan: { wsEnabled: false } }).settings).toMatchObject({
      websockets: false,
      markdown_for_agents: true,
    });
    expect(configOf({ plan: null }).settings).toMatchObject({
      websockets: false,
      markdown_for_agents: false,
    });
  });

  it.each([
    ['active', 'active'],
    ['moved', 'moved'],
    ['pending', 'pending'],
    ['unverified', 'pending'],
  ])('tells the status %s as %s', (status, told) => {
    expect(configOf({ status }).status).toBe(told);
  });
});
