// Lists other accounts' domains inside a claim that will no longer be answered once it is proven, because its records do
// not delegate them (docs/rules.md "What is answered"). The list has only names that are answered today, and never their
// owners: the parent of each already shows it publicly.

import { isWithin, type Name } from '../../dns/name.ts';
import { type InnerDomain, MOST_INNER } from '../delegation/finding-text.ts';

export interface HeldInside extends InnerDomain {
  readonly accountId: number;
}

/**
 * `delegated`: names for which the claim has NS records. Returns one name more than a finding lists if there are
 * more.
 */
export function endingInside(
  accountId: number,
  inside: readonly HeldInside[],
  delegated: readonly Name[],
): readonly InnerDomain[] {
  return inside
    .filter((held) => held.accountId !== accountId && !delegated.some((cut) => isWithin(held.name, cut)))
    .slice(0, MOST_INNER + 1)
    .map(({ name, ns }) => ({ name, ns }));
}
