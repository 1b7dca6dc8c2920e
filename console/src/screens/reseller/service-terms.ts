// The terms of plans as choices, and the state of machine tokens.

import type { Schemas } from '../../api/client.ts';
import { reseller } from '../../words/reseller.ts';
import { rials } from '../wallet/rials.ts';

interface TermChoice {
  readonly value: string;
  readonly label: string;
}

/** Returns the terms on sale of all plans. */
export function termChoices(
  plans: readonly Pick<Schemas['CataloguePlan'], 'name' | 'terms'>[],
): TermChoice[] {
  return plans.flatMap(({ name, terms }) =>
    terms.map(({ id, billing_duration_days: days, price_rials: price }) => ({
      value: String(id),
      label: reseller.services.term(name, price === undefined ? '' : rials(price), days),
    })),
  );
}

type TokenState = 'active' | 'expired' | 'revoked';

export function tokenState(
  { status, expires_at: end }: Pick<Schemas['ResellerToken'], 'status' | 'expires_at'>,
  nowMs: number,
): TokenState {
  if (status === 'revoked') return 'revoked';
  return end !== null && Date.parse(end) <= nowMs ? 'expired' : 'active';
}
