// Decides which domain of a name the nodes answer, and if they answer its whole zone (docs/rules.md "What is answered").
// Hijackers want their claims answered, so an unproven claim gets its whole zone only if no other account can be meant.

export interface NamedDomain {
  readonly id: number;
  readonly accountId: number;
  /**
   * `holding`: active or moved here, or leaving for external mode. `holdingElsewhere`: active in external mode.
   * `waiting`: pending. `unverified`: waiting in external mode. `off`: disabled or banned.
   */
  readonly stage: 'holding' | 'holdingElsewhere' | 'waiting' | 'unverified' | 'off';
  /**
   * True if the newest conclusive check showed none of our nameservers except the claim's own, or if an operator made the
   * claim.
   */
  readonly open: boolean;
  /**
   * True if the parent showed, within two years, one of our nameservers that is in none of its sets. Never true for an
   * operator's claim.
   */
  readonly othersSighted: boolean;
  readonly hasTxt: boolean;
  /** True if an operator approved the claim before the parent showed a set of this fleet. */
  readonly isApproved: boolean;
}

export interface Around {
  /** The claim whose turn it is. */
  readonly turn: number | undefined;
  /** How another account's domain above the name is answered: its whole zone, only its apex, or not at all. */
  readonly enclosing: 'full' | 'apex' | 'none';
  /** Accounts that have the right to a set that the parent showed at this name. */
  readonly sightedRights: readonly number[];
}

export interface AnsweredDomain {
  readonly id: number;
  readonly served: 'full' | 'apex';
}

/**
 * Returns the only approved claim, unless another account has proved control of the name with a TXT record. Other claims
 * without any proof are ignored, since every customer can make them.
 */
export function approvedClaim<D extends Pick<NamedDomain, 'stage' | 'hasTxt' | 'isApproved'>>(
  domains: readonly D[],
): D | undefined {
  const [approved, another] = domains.filter(({ stage, isApproved }) => stage === 'waiting' && isApproved);
  if (approved === undefined || another !== undefined) return undefined;
  const isProven = ({ stage, hasTxt }: D) => hasTxt || stage === 'holding' || stage === 'holdingElsewhere';
  return domains.some((other) => other !== approved && isProven(other)) ? undefined : approved;
}

/** Returns undefined if nodes refuse the name or answer from the zone above it. */
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
