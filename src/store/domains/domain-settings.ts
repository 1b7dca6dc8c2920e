// A domain's settings that its owner controls, and their columns.

import { sql } from 'kysely';

export interface DomainSettings {
  readonly cacheL2MaxGb: number;
  readonly cacheL2TtlDays: number;
  readonly cacheCapMb: number;
  readonly developerModeUntil: Date | null;
  readonly secNoSniff: boolean;
  readonly secReferrerPolicy: boolean;
  readonly secStripHeaders: boolean;
  readonly markdownForAgents: boolean;
  readonly outageAlerts: boolean;
  readonly uptimeThresholdPct: number;
  readonly uptimeWindowMin: number;
  readonly uptimeMinRequests: number;
  readonly uptimeMinActiveMin: number;
  readonly uptimeRecoverMin: number;
}

export const SETTING_COLUMNS = {
  cacheL2MaxGb: 'cache_l2_max_gb',
  cacheL2TtlDays: 'cache_l2_ttl_days',
  cacheCapMb: 'cache_cap_mb',
  developerModeUntil: 'developer_mode_until',
  secNoSniff: 'sec_no_sniff',
  secReferrerPolicy: 'sec_referrer_policy',
  secStripHeaders: 'sec_strip_headers',
  markdownForAgents: 'markdown_for_agents',
  outageAlerts: 'outage_alerts',
  uptimeThresholdPct: 'uptime_threshold_pct',
  uptimeWindowMin: 'uptime_window_min',
  uptimeMinRequests: 'uptime_min_requests',
  uptimeMinActiveMin: 'uptime_min_active_min',
  uptimeRecoverMin: 'uptime_recover_min',
} as const satisfies Record<keyof DomainSettings, string>;

const KEYS = Object.keys(SETTING_COLUMNS) as (keyof DomainSettings)[];

/** Selects the settings of the domain `d`. */
export const SELECTED_SETTINGS = sql.raw(
  KEYS.map((key) => `d.${SETTING_COLUMNS[key]} as "${key}"`).join(', '),
);

/** Copies the row's settings to the domain. */
export function withSettings<T extends object>(domain: T, row: DomainSettings): T & DomainSettings {
  const target = domain as Record<string, unknown>;
  for (const key of KEYS) target[key] = row[key];
  return domain as T & DomainSettings;
}
