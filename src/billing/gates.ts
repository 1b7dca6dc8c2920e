// Table of all features and limits that depend on a plan, with the entitlement that each requires and how a call is
// refused. Entries may be listed before their feature is implemented.

import { ENTITLEMENTS, type EntitlementName, type Entitlements, NO_ENTITLEMENTS } from './entitlements.ts';

type KeysWith<V> = { [K in keyof Entitlements]: Entitlements[K] extends V ? K : never }[keyof Entitlements];
type Feature = KeysWith<boolean>;
type Limit = Exclude<keyof Entitlements, Feature>;

export type Gate =
  /** Any active plan is sufficient. Without one, analytics and imports are refused with 402, everything else with 403. */
  | { readonly opens: 'plan'; readonly what: string; readonly isBuilt: boolean; readonly status: 402 | 403 }
  | { readonly opens: 'feature'; readonly by: Feature; readonly what: string; readonly isBuilt: boolean }
  /** Allowed up to the limit. If `refuses` is false, exceeding it only notifies the owner. */
  | {
      readonly opens: 'limit';
      readonly by: Limit;
      readonly what: string;
      readonly isBuilt: boolean;
      readonly refuses: boolean;
    };

const plan = <S extends 402 | 403>(what: string, status: S) =>
  ({ opens: 'plan', what, isBuilt: true, status }) as const;
const feature = <B extends boolean = false>(by: Feature, what: string, isBuilt = false as B) =>
  ({ opens: 'feature', by, what, isBuilt }) as const;
const limit = <B extends boolean = false>(by: Limit, what: string, isBuilt = false as B, refuses = true) =>
  ({ opens: 'limit', by, what, isBuilt, refuses }) as const;

export const GATES = {
  import: plan('importing records', 402),
  markdown_for_agents: plan('markdown_for_agents', 403),
  records: limit('maxRecords', 'records', true),
  cache_cap_mb: limit('maxCacheCapMb', 'MB in cache_cap_mb', true),
  host_header: feature('hostHeaderEditEnabled', 'host_header', true),
  analytics: plan('analytics', 402),
  analytics_sections: feature('monitoringEnabled', 'this part of the analytics', true),
  raw_logs: feature('logsEnabled', 'logs and rankings', true),
  rules: feature('rulesEnabled', 'rules', true),
  rules_of_a_type: limit('maxRulesPerSet', 'rules of one type', true),
  cache_purge: feature('cachePurgeEnabled', 'purging the cache', true),
  certificates: feature('customSslEnabled', 'own certificates', true),
  websockets: feature('wsEnabled', 'WebSocket'),
  support: feature('dedicatedSupportEnabled', 'dedicated support'),
  traffic: limit('maxTrafficGb', 'GB of traffic', true, false),
} as const satisfies Record<string, Gate>;

/** The error codes of refusals, each with its status. */
export const GATE_REFUSALS = { no_active_plan: 402, plan_feature: 403, plan_limit: 403 } as const;

export type EntitlementRefusal =
  | {
      readonly code: 'plan_feature';
      readonly message: string;
      readonly feature: EntitlementName | 'has_active_plan';
    }
  | { readonly code: 'plan_limit'; readonly message: string; readonly limit: number };
type GateRefusal = EntitlementRefusal | { readonly code: 'no_active_plan'; readonly message: string };

/** `entitlements`: null without an active plan. `amount`: for a limit, the total after the call. */
export function judgeGate(
  gate: Exclude<Gate, { readonly opens: 'plan' }>,
  entitlements: Entitlements | null,
  amount?: number,
): EntitlementRefusal | undefined;
export function judgeGate(
  gate: Gate,
  entitlements: Entitlements | null,
  amount?: number,
): GateRefusal | undefined;
export function judgeGate(
  gate: Gate,
  entitlements: Entitlements | null,
  amount = 0,
): GateRefusal | undefined {
  const { what } = gate;
  const withoutPlan = entitlements === null ? `${what}: the domain has no active plan` : undefined;
  if (gate.opens === 'plan') {
    if (withoutPlan === undefined) return undefined;
    return gate.status === 402
      ? { code: 'no_active_plan', message: withoutPlan }
      : { code: 'plan_feature', message: withoutPlan, feature: 'has_active_plan' };
  }
  const included = entitlements ?? NO_ENTITLEMENTS;
  if (gate.opens === 'feature') {
    if (included[gate.by]) return undefined;
    const message = withoutPlan ?? `${what}: not included in the plan`;
    return { code: 'plan_feature', message, feature: ENTITLEMENTS[gate.by].name };
  }
  const allowed = included[gate.by];
  if (!gate.refuses || allowed === null || amount <= allowed) return undefined;
  const message = withoutPlan ?? `the plan allows ${allowed} ${what}, but this would be ${amount}`;
  return { code: 'plan_limit', message, limit: allowed };
}
