// Refuses requests by the country of the client.

import { type Deed, plainAnswer, type RuleOf, type Visit } from '../proxy/visit.ts';

export function judgeDrop(rule: RuleOf<'drop'>, { country }: Visit): Deed | undefined {
  const { countries, country_match_type } = rule;
  // An unknown country is in no list.
  const isListed = country !== undefined && countries.includes(country);
  const isDropped = countries.length === 0 || (country_match_type === 'include' ? isListed : !isListed);
  return isDropped ? { kind: 'answer', answer: plainAnswer(403, 'Forbidden') } : undefined;
}
