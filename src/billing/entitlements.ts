// The entitlements of plans, and the overrides of single subscriptions.

export interface Entitlements {
  /** In a limit, null means unlimited. */
  readonly maxRecords: number | null;
  readonly maxTrafficGb: number | null;
  readonly maxRulesPerSet: number | null;
  readonly maxCacheCapMb: number;
  readonly logsEnabled: boolean;
  readonly monitoringEnabled: boolean;
  readonly rulesEnabled: boolean;
  readonly cachePurgeEnabled: boolean;
  readonly customSslEnabled: boolean;
  readonly wsEnabled: boolean;
  readonly hostHeaderEditEnabled: boolean;
  readonly dedicatedSupportEnabled: boolean;
}

/** A limit may be null, an amount may not, and a feature is true or false. */
type Kind = 'limit' | 'amount' | 'feature';

/** Each entitlement with its JSON name. */
export const ENTITLEMENTS = {
  maxRecords: { name: 'max_records', kind: 'limit' },
  maxTrafficGb: { name: 'max_traffic_gb', kind: 'limit' },
  maxRulesPerSet: { name: 'max_rules_per_set', kind: 'limit' },
  maxCacheCapMb: { name: 'max_cache_cap_mb', kind: 'amount' },
  logsEnabled: { name: 'logs_enabled', kind: 'feature' },
  monitoringEnabled: { name: 'monitoring_enabled', kind: 'feature' },
  rulesEnabled: { name: 'rules_enabled', kind: 'feature' },
  cachePurgeEnabled: { name: 'cache_purge_enabled', kind: 'feature' },
  customSslEnabled: { name: 'custom_ssl_enabled', kind: 'feature' },
  wsEnabled: { name: 'ws_enabled', kind: 'feature' },
  hostHeaderEditEnabled: { name: 'host_header_edit_enabled', kind: 'feature' },
  dedicatedSupportEnabled: { name: 'dedicated_support_enabled', kind: 'feature' },
} as const satisfies Record<keyof Entitlements, { readonly name: string; readonly kind: Kind }>;

export type EntitlementName = (typeof ENTITLEMENTS)[keyof Entitlements]['name'];
type EntitlementValue = number | boolean | null;
/** Entitlements by JSON name, as stored in a subscription. */
export type Overrides = { readonly [name in EntitlementName]?: EntitlementValue };

/** Entitlements of a domain without an active plan. The limits are 0, because null would mean unlimited. */
export const NO_ENTITLEMENTS: Entitlements = {
  maxRecords: 0,
  maxTrafficGb: 0,
  maxRulesPerSet: 0,
  maxCacheCapMb: 0,
  logsEnabled: false,
  monitoringEnabled: false,
  rulesEnabled: false,
  cachePurgeEnabled: false,
  customSslEnabled: false,
  wsEnabled: false,
  hostHeaderEditEnabled: false,
  dedicatedSupportEnabled: false,
};

const KEYS = Object.keys(ENTITLEMENTS) as (keyof Entitlements)[];

/** Returns the plan with the overrides of one subscription. Ignores overrides with invalid values. */
export function entitlementsOf<P extends Entitlements>(plan: P, overrides: Overrides | null): P {
  if (overrides === null) return plan;
  const own = KEYS.flatMap((key) => {
    const { name, kind } = ENTITLEMENTS[key];
    const value = overrides[name];
    return value === undefined || faultOf(kind, value) !== undefined ? [] : [[key, value] as const];
  });
  return { ...plan, ...Object.fromEntries(own) };
}

const MAX_LIMIT = 2_147_483_647;

/** Returns the error in a value for this entitlement, or undefined if it is valid. */
export function judgeEntitlement(name: string, value: unknown): string | undefined {
  const key = keyOf(name);
  if (key === undefined) {
    return `is not an entitlement: expected one of ${KEYS.map((each) => ENTITLEMENTS[each].name).join(', ')}`;
  }
  return faultOf(ENTITLEMENTS[key].kind, value);
}

export function keyOf(name: string): keyof Entitlements | undefined {
  return KEYS.find((key) => ENTITLEMENTS[key].name === name);
}

function faultOf(kind: Kind, value: unknown): string | undefined {
  if (kind === 'feature') return typeof value === 'boolean' ? undefined : 'expected true or false';
  if (kind === 'limit' && value === null) return undefined;
  const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_LIMIT;
  if (isCount) return undefined;
  return `expected a whole number from 0 to ${MAX_LIMIT}${kind === 'limit' ? ', or null for no limit' : ''}`;
}
