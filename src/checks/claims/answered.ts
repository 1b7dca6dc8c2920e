// Which domain of a name nodes answer, and how much of it (docs/rules.md "What is answered"). Being answered is what a
// hijacker wants, so a claim without proof gets its whole zone only where nobody else can be meant.

export interface NamedDomain {
  readonly id: number;
  readonly accountId: number;
  /**
   * `holding`: active or moved here, or leaving for external mode. `holdingElsewhere`: active in external mode.
   * `waiting`: pending. `unverified`: waiting in external mode. `off`: disabled or banned.
   */
  readonly stage: 'holding' | 'holdingElsewhere' | 'waiting' | 'unverified' | 'off';
  /** The newest conclusive check showed no names of ours but the claim's, or the operator made the claim. */
  readonly open: boolean;
  /** Within two years the parent showed a name of ours that is in none of its sets; never true for an operator's claim. */
  readonly othersSighted: boolean;
  readonly hasTxt: boolean;
  /** An operator has approved the claim before the parent showed a set of this fleet. */
  readonly isApproved: boolean;
}

export interface Around {
  /** The claim whose turn it is. */
  readonly turn: number | undefined;
  /** Another account's domain above the name is answered: its whole zone, or its apex. */
  readonly enclosing: 'full' | 'apex' | 'none';
  /** Accounts that have the right to a set which the parent showed at this name. */
  readonly sightedRights: readonly number[];
}

export interface AnsweredDomain {
  readonly id: number;
  readonly served: 'full' | 'apex';
}

/**
 * Returns the claim whose approval holds: it is the only approved one, and no other account has shown with a TXT record that it
 * controls the name. Claims without any proof do not matter, since every customer can make them.
 */
export function approvedClaim<D extends Pick<NamedDomain, 'stage' | 'hasTxt' | 'isApproved'>>(
  domains: readonly D[],
): D | undefined {
  const [approved, another] = domains.filter(({ stage, isApproved }) => stage === 'waiting' && isApproved);
  if (approved === undefined || another !== undefined) return undefined;
  const isProven = ({ stage, hasTxt }: D) => hasTxt || stage === 'holding' || stage === 'holdingElsewhere';
  return domains.some((other) => other !== approved && isProven(other)) ? undefined : approved;
}

/** Undefined: nodes refuse the name, or answer the zone above it. */
export function answeredDomain(
  domains: readonly NamedDomain[],
  { turn, enclosing, sightedRights }: Around,
): AnsweredDomain | undefined {
  const holder = domains.find(({ stage }) => stage === 'holding');
  if (holder !== undefined) return { id: holder.id, served: 'full' };
  const waiting = domains.filter(({ stage }) => stage === 'waiting');
  const approved = approvedClaim(domains);
  const chosen = approved ?? waiting.find(({ id }) => id === turn) ?? waiting[0];
  if (chosen === undefined || enclosing === 'full') return undefined;
  const isAlone = domains.every(({ id, stage }) => id === chosen.id || stage === 'off');
  const isOthers = sightedRights.some((accountId) => accountId !== chosen.accountId);
  const isOwn = chosen.open && !chosen.othersSighted && !isOthers;
  const isApproved = chosen === approved && !isOthers;
  const isWhole = enclosing === 'none' && ((isOwn && isAlone) || isApproved || chosen.hasTxt);
  return { id: chosen.id, served: isWhole ? 'full' : 'apex' };
}
