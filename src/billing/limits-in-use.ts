// Determines where a domain's usage exceeds another plan, so that such a plan is not bought by mistake.

import { ENTITLEMENTS, type EntitlementName, type Entitlements } from './entitlements.ts';

/** Allowed values of a domain's `cache_cap_mb`. */
export const CACHE_CAPS_MB = [128, 256, 512, 2048, 4096] as const;
/** `cache_cap_mb` of a new domain. */
const DEFAULT_CACHE_CAP_MB = 512;

interface InUse {
  readonly records: number;
  /** Number of rules by type. */
  readonly rules: ReadonlyMap<string, number>;
  readonly cacheCapMb: number;
  readonly hasOwnCertificate: boolean;
}

export interface Above {
  readonly limit: EntitlementName;
  /** Exceeded limit: `records`, `rules_waf`. */
  readonly what: string;
  readonly used: number;
  readonly allowed: number;
}

/**
 * Returns a domain's `cache_cap_mb` under another plan. The default is lowered to the plan's limit, since its owner may
 * never have set it. Any other value is kept, and `aboveLimits` reports it if it is too large.
 */
export function cacheCapUnder({ maxCacheCapMb }: Entitlements, cacheCapMb: number): number {
  if (cacheCapMb !== DEFAULT_CACHE_CAP_MB || cacheCapMb <= maxCacheCapMb) return cacheCapMb;
  return CACHE_CAPS_MB.findLast((size) => size <= maxCacheCapMb) ?? CACHE_CAPS_MB[0];
}

/** Returns an empty list if the domain fits. */
export function aboveLimits(
  plan: Entitlements,
  { records, rules, cacheCapMb, hasOwnCertificate }: InUse,
): Above[] {
  const counts: [keyof Entitlements, string, number, number | null][] = [
    ['maxRecords', 'records', records, plan.maxRecords],
    ...[...rules].map(([type, count]): [keyof Entitlements, string, number, number | null] =>
      plan.rulesEnabled
        ? ['maxRulesPerSet', `rules_${type}`, count, plan.maxRulesPerSet]
        : ['rulesEnabled', `rules_${type}`, count, 0],
    ),
    [
      'maxCacheCapMb',
      'cache_cap_mb',
      cacheCapMb,
      cacheCapMb === DEFAULT_CACHE_CAP_MB ? null : plan.maxCacheCapMb,
    ],
    ['customSslEnabled', 'certificates', hasOwnCertificate ? 1 : 0, plan.customSslEnabled ? null : 0],
  ];
  return counts.flatMap(([key, what, used, allowed]) =>
    allowed !== null && used > allowed ? [{ limit: ENTITLEMENTS[key].name, what, used, allowed }] : [],
  );
}
