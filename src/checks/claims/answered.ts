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

/** Undefined: nodes refuse the name, or answer the zone above it. */
export function answeredDomain(
  domains: readonly NamedDomain[],
  { turn, enclosing, sightedRights }: Around,
): AnsweredDomain | undefined {
  const holder = domains.find(({ stage }) => stage === 'holding');
  if (holder !== undefined) return { id: holder.id, served: 'full' };
  const waiting = domains.filter(({ stage }) => stage === 'waiting');
  const chosen = waiting.find(({ id }) => id === turn) ?? waiting[0];
  if (chosen === undefined || enclosing === 'full') return undefined;
  const isAlone = domains.every(({ id, stage }) => id === chosen.id || stage === 'off');
  const isOthers = sightedRights.some((accountId) => accountId !== chosen.accountId);
  const isOwn = chosen.open && !chosen.othersSighted && !isOthers;
  const isWhole = enclosing === 'none' && ((isOwn && isAlone) || chosen.hasTxt);
  return { id: chosen.id, served: isWhole ? 'full' : 'apex' };
}
