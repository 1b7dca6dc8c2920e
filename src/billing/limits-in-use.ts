// What a domain uses beyond what another plan allows: a plan that would break what is in use is not bought by mistake.

import { ENTITLEMENTS, type EntitlementName, type Entitlements } from './entitlements.ts';

interface InUse {
  readonly records: number;
  /** The rules of each type. */
  readonly rules: ReadonlyMap<string, number>;
  readonly cacheCapMb: number;
  readonly hasOwnCertificate: boolean;
}

export interface Above {
  readonly limit: EntitlementName;
  /** What there is too much of: `records`, `rules_waf`. */
  readonly what: string;
  readonly used: number;
  readonly allowed: number;
}

/** Empty: the domain fits. */
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
    ['maxCacheCapMb', 'cache_cap_mb', cacheCapMb, plan.maxCacheCapMb],
    ['customSslEnabled', 'certificates', hasOwnCertificate ? 1 : 0, plan.customSslEnabled ? null : 0],
  ];
  return counts.flatMap(([key, what, used, allowed]) =>
    allowed !== null && used > allowed ? [{ limit: ENTITLEMENTS[key].name, what, used, allowed }] : [],
  );
}
