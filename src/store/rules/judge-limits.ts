// How many rules a domain may have, and how much they may take. Edges are told all rules of a domain at once, so these limits
// hold also where a plan has none.

import type { Entitlements } from '../../billing/entitlements.ts';
import { type EntitlementRefusal, GATES, judgeGate } from '../../billing/gates.ts';
import { MAX_RULES_OF_A_TYPE } from '../../edge/rules/common-fields.ts';
import type { Database } from '../postgres/database.ts';
import { sumRuleOctets } from './load-rules.ts';
import { octetsOfBody, type RuleValue } from './rule-row.ts';

const MIB = 1024 * 1024;
const MAX_BODY_OCTETS = 4 * MIB;
const MAX_PAGE_OCTETS = 4 * MIB;

/** `count`: how many rules of the type there would be; undefined: none is added. */
export function judgeRuleGates(plan: Entitlements | null, count?: number): EntitlementRefusal | undefined {
  const shut = judgeGate(GATES.rules, plan);
  if (shut !== undefined || count === undefined) return shut;
  const over = judgeGate(GATES.rules_of_a_type, plan, count);
  if (over !== undefined || count <= MAX_RULES_OF_A_TYPE) return over;
  const message = `a domain has at most ${MAX_RULES_OF_A_TYPE} rules of one type`;
  return { code: 'plan_limit', message, limit: MAX_RULES_OF_A_TYPE };
}

/** Why there is no room for these values. `without`: the rules whose values they take the place of. */
export async function findRoomFault(
  trx: Database,
  domainId: number,
  values: readonly RuleValue[],
  without: readonly number[],
): Promise<{ readonly field: string; readonly error: string } | undefined> {
  const { bodies, pages } = await sumRuleOctets(trx, domainId, without);
  const sum = (octetsOf: (value: RuleValue) => number) =>
    values.reduce((octets, value) => octets + octetsOf(value), 0);
  const more = (what: string, limit: number) =>
    `${what} of a domain take at most ${limit / MIB} MiB together`;
  if (pages + sum(({ page }) => page?.octets ?? 0) > MAX_PAGE_OCTETS)
    return { field: 'html', error: more('the error pages', MAX_PAGE_OCTETS) };
  if (bodies + sum(octetsOfBody) > MAX_BODY_OCTETS)
    return { field: 'body', error: more('the rules', MAX_BODY_OCTETS) };
  return undefined;
}
