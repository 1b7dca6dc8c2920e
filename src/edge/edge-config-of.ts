// Builds the edge configuration of one domain from stored values. Does not decide if the domain is served.

import type {
  EdgeCertificate,
  EdgeChallenge,
  EdgeConfig,
  EdgeHost,
  EdgeOrigin,
  EdgeSettings,
} from './edge-config.ts';
import type { EdgeRule } from './edge-rule.ts';

/** A proxied record. Names are folded text with the trailing dot. */
export interface ProxiedRecord {
  readonly id: number;
  readonly name: string;
  /** In display form: an address, or a host with or without the trailing dot. */
  readonly destination: string;
  readonly scheme: 'Http' | 'Https' | 'Auto' | 'Default';
  readonly port: number;
  readonly host_header: string | null;
  readonly timeout: number;
  readonly captcha: boolean;
  readonly monitor: boolean;
}

export interface EdgeDomain {
  readonly id: number;
  readonly name: string;
  readonly status: string;
  readonly suspended: boolean;
  readonly settings: Omit<EdgeSettings, 'websockets' | 'developer_mode_until'>;
  readonly developerModeUntil: Date | null;
  /** Null without an active plan. */
  readonly plan: { readonly wsEnabled: boolean } | null;
}

interface EdgeValues {
  readonly domain: EdgeDomain;
  readonly records: readonly ProxiedRecord[];
  readonly rules: readonly EdgeRule[];
  readonly http01: readonly EdgeChallenge[];
  readonly certificates: readonly EdgeCertificate[];
}

/** JSON omits undefined members of rules. Unset values are absent. */
export function edgeConfigOf({ domain, records, rules, http01, certificates }: EdgeValues): EdgeConfig {
  const { id, name, status, suspended, settings, developerModeUntil, plan } = domain;
  return {
    domain_id: id,
    domain: withoutDot(name),
    // Edges treat a domain as pending if it is answered before it is proved or while it leaves.
    status: status === 'active' || status === 'moved' ? status : 'pending',
    suspended,
    settings: {
      cache_l2_max_gb: settings.cache_l2_max_gb,
      cache_l2_ttl_days: settings.cache_l2_ttl_days,
      cache_cap_mb: settings.cache_cap_mb,
      ...(developerModeUntil !== null && { developer_mode_until: developerModeUntil.toISOString() }),
      sec_no_sniff: settings.sec_no_sniff,
      sec_referrer_policy: settings.sec_referrer_policy,
      sec_strip_headers: settings.sec_strip_headers,
      markdown_for_agents: settings.markdown_for_agents && plan !== null,
      websockets: plan?.wsEnabled === true,
    },
    hosts: hostsOf(records),
    rules,
    http01,
    certificates,
  };
}

/** Sorted by name, regardless of the order of records. */
function hostsOf(records: readonly ProxiedRecord[]): EdgeHost[] {
  const byName = new Map<string, ProxiedRecord[]>();
  for (const record of records) {
    if (!isHost(record.name)) continue;
    const held = byName.get(record.name);
    if (held === undefined) byName.set(record.name, [record]);
    else held.push(record);
  }
  return [...byName.keys()].sort().map((name) => {
    const held = (byName.get(name) as ProxiedRecord[]).sort((a, b) => a.id - b.id);
    return {
      host: withoutDot(name),
      origins: held.map(originOf),
      captcha: held.some(({ captcha }) => captcha),
    };
  });
}

/** Requests never have hosts with octets that must be escaped in DNS. */
function isHost(name: string): boolean {
  return /^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*\.$/.test(name);
}

function originOf(record: ProxiedRecord): EdgeOrigin {
  return {
    record_id: record.id,
    destination: withoutDot(record.destination),
    scheme: SCHEMES[record.scheme],
    port: record.port,
    ...(record.host_header !== null && { host_header: record.host_header }),
    timeout_seconds: record.timeout,
    monitor: record.monitor,
  };
}

const SCHEMES = { Http: 'http', Https: 'https', Auto: 'auto', Default: 'default' } as const;

function withoutDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
