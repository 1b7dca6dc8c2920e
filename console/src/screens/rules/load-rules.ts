// Loads the rules of all types, the features of the domain's plan, and the names of records that rules apply to.

import { api, dataOf, type Schemas } from '../../api/client.ts';
import { type Loaded, useLoad } from '../../api/use-load.ts';
import type { Rule } from './match-rule.ts';
import { type RuleType, TYPES } from './rule-fields.ts';

export interface DomainRules {
  readonly features: Schemas['Entitlements'];
  /** By type, in the order of evaluation. Only types with rules. */
  readonly phases: readonly { readonly type: RuleType; readonly rules: readonly Rule[] }[];
  /** Names of proxied records by id. */
  readonly names: ReadonlyMap<number, string>;
}

/** Rules show ids instead of names for further records. */
const MAX_NAMES = 1000;

export function useRules(domain: string): Loaded<DomainRules> {
  return useLoad<DomainRules>(`rules ${domain}`, async (signal) => {
    const features = await dataOf(
      api.GET('/domains/{domain}/features', { params: { path: { domain } }, signal }),
    );
    const used = new Set(features.domain_usage.filter((each) => each.used > 0).map(({ name }) => name));
    const phases = await Promise.all(
      TYPES.filter((type) => used.has(`rules_${type}`)).map(async (type) => ({
        type,
        rules: await dataOf(
          api.GET('/domains/{domain}/rules/{type}/', { params: { path: { domain, type } }, signal }),
        ),
      })),
    );
    const isNarrow = phases.some(({ rules }) => rules.some(({ record_ids: ids }) => ids.length > 0));
    return { features, phases, names: isNarrow ? await loadNames(domain, signal) : new Map() };
  });
}

async function loadNames(domain: string, signal: AbortSignal): Promise<ReadonlyMap<number, string>> {
  const records = await dataOf(
    api.GET('/domains/{domain}/records/', {
      params: { path: { domain }, query: { proxied: true, limit: MAX_NAMES } },
      signal,
    }),
  );
  return new Map(records.map(({ id, original_name: name }) => [id, name.replace(/\.$/, '')]));
}
