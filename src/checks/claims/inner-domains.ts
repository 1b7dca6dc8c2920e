// The domains of other accounts inside a claim that end when it is proven, since its records do not delegate them
// (docs/rules.md "What is answered"). Only names that are answered today are told, and never whose they are: the parent of
// each shows it to everybody.

import { isWithin, type Name } from '../../dns/name.ts';
import { type InnerDomain, MOST_INNER } from '../delegation/finding-text.ts';

export interface HeldInside extends InnerDomain {
  readonly accountId: number;
}

/** `delegated`: the names for which the claim has NS records. One more than is told says that there are more. */
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
