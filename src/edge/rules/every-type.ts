// All rule types, in the order in which they act on a request.

import type { EdgeRule, RuleType } from '../edge-rule.ts';
import { botRoute } from './bot-route.ts';
import { cache } from './cache.ts';
import { captcha } from './captcha.ts';
import { matchOf } from './common-fields.ts';
import { drop } from './drop.ts';
import { errorPage } from './error-page.ts';
import { fingerprint } from './fingerprint.ts';
import { originPool } from './origin-pool.ts';
import { originRoute } from './origin-route.ts';
import { rateLimit } from './rate-limit.ts';
import { redirect } from './redirect.ts';
import { rewrite } from './rewrite.ts';
import type { RuleBody, RuleKind } from './rule-kind.ts';
import { waf } from './waf.ts';

export const RULE_KINDS: readonly RuleKind[] = [
  drop,
  rateLimit,
  botRoute,
  fingerprint,
  waf,
  captcha,
  redirect,
  rewrite,
  cache,
  originRoute,
  originPool,
  errorPage,
];

export const RULE_TYPES: readonly RuleType[] = RULE_KINDS.map(({ type }) => type);

const BY_TYPE = new Map(RULE_KINDS.map((kind) => [kind.type, kind]));

export function kindOf(type: RuleType): RuleKind {
  return BY_TYPE.get(type) as RuleKind;
}

/** Finds the type in a path. `rate_limit` and `rate-limit` are equivalent. */
export function findRuleKind(segment: string): RuleKind | undefined {
  return /^[a-z]+([_-][a-z]+)?$/.test(segment)
    ? BY_TYPE.get(segment.replace('-', '_') as RuleType)
    : undefined;
}

/**
 * Returns one enabled rule in the format of the edge configuration. `hosts`: the names of its records, or undefined for the
 * whole domain.
 */
export function edgeRuleOf(
  type: RuleType,
  id: number,
  body: RuleBody,
  hosts: readonly string[] | undefined,
): EdgeRule {
  const kind = kindOf(type);
  return {
    id,
    priority: body.priority,
    action_mode: kind.countsDryRun ? body.action_mode : 'enforce',
    ...(hosts !== undefined && { hosts }),
    ...matchOf(body),
    ...kind.toEdge(body),
  } as unknown as EdgeRule;
}
