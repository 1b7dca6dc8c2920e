import type { EdgeConfig, EdgeHost, EdgeOrigin, EdgeSettings } from '../../../src/edge/edge-config.ts';
import type { EdgeRule } from '../../../src/edge/edge-rule.ts';

const SETTINGS: EdgeSettings = {
  cache_l2_max_gb: 1,
  cache_l2_ttl_days: 7,
  cache_cap_mb: 128,
  sec_no_sniff: false,
  sec_referrer_policy: false,
  sec_strip_headers: false,
  markdown_for_agents: false,
  websockets: false,
};

export function madeOrigin(
  origin: Pick<EdgeOrigin, 'destination' | 'port'> & Partial<EdgeOrigin>,
): EdgeOrigin {
  return { record_id: 1, scheme: 'http', timeout_seconds: 15, monitor: false, ...origin };
}

export function madeHost(host: string, ...origins: readonly EdgeOrigin[]): EdgeHost {
  return { host, origins, captcha: false };
}

export function madeConfig(
  domain: string,
  config: Omit<Partial<EdgeConfig>, 'settings'> & { settings?: Partial<EdgeSettings> },
): EdgeConfig {
  return {
    domain_id: 1,
    domain,
    status: 'active',
    suspended: false,
    hosts: [],
    rules: [],
    http01: [],
    certificates: [],
    ...config,
    settings: { ...SETTINGS, ...config.settings },
  };
}

type OfType<T extends EdgeRule['type']> = Extract<EdgeRule, { readonly type: T }>;

const COMMON = {
  priority: 100,
  action_mode: 'enforce',
  path: { type: 'wildcard', includes: ['/*'], excludes: [] },
} as const;

/** Creates a rule for everything, except for the given fields. */
export function madeRule<T extends EdgeRule['type']>(
  type: T,
  id: number,
  fields: Omit<OfType<T>, 'id' | 'type' | keyof typeof COMMON> &
    Partial<Pick<OfType<T>, keyof typeof COMMON>>,
): OfType<T> {
  return { ...COMMON, type, id, ...fields } as unknown as OfType<T>;
}
