// Chooses the claim whose nameservers the apex shows while several claims wait for a name. Registries that query before
// they delegate must see the claim's own set (docs/rules.md "Turns").

const TURN_MS = 15 * 60_000;
/** A claim that has waited this long goes next after one with TXT. */
const LONG_WAIT_MS = 3_600_000;
/** Minimum time between two requests for a turn by one claim. */
export const TURN_EACH_MS = 3_600_000;

export interface WaitingClaim {
  readonly id: number;
  /** True if the claim's account published the TXT value. Such claims go first. */
  readonly hasTxt: boolean;
  /** When it requested a turn that it has not had yet. All times are milliseconds since 1970. */
  readonly askedAt: number | undefined;
  readonly turn: Turn | undefined;
}

interface Turn {
  readonly from: number;
  readonly until: number;
}

interface TurnNow {
  readonly id: number;
  readonly turn: Turn;
  /** True if the turn begins now, which completes the claim's request. */
  readonly isNew: boolean;
}

/**
 * Returns undefined if no claim waits. If no claim requests a turn, the last turn continues, except that a claim without
 * TXT passes it to one with TXT: only such a claim is answered completely.
 */
export function nextTurn(claims: readonly WaitingClaim[], at: number): TurnNow | undefined {
  const current = newest(claims);
  const turn = current?.turn;
  if (current !== undefined && turn !== undefined && turn.until > at)
    return { id: current.id, turn, isNew: false };
  const [first] = claims.filter(({ askedAt }) => askedAt !== undefined).sort(inLine(current, at));
  const next = first ?? (current?.hasTxt === true ? undefined : newest(withTxt(claims)));
  const chosen = next ?? current ?? claims[0];
  if (chosen === undefined) return undefined;
  if (chosen === current && next === undefined && turn !== undefined)
    return { id: chosen.id, turn, isNew: false };
  return { id: chosen.id, turn: { from: at, until: at + TURN_MS }, isNew: true };
}

/** True if another claim gets a turn when the newest one ends. */
export function isFollowed(claims: readonly WaitingClaim[]): boolean {
  const isAsked = claims.some(({ askedAt }) => askedAt !== undefined);
  return isAsked || (newest(claims)?.hasTxt === false && withTxt(claims).length > 0);
}

function withTxt(claims: readonly WaitingClaim[]): readonly WaitingClaim[] {
  return claims.filter(({ hasTxt }) => hasTxt);
}

/** Returns the claim that had the last turn, or the first claim if none had one. */
function newest(claims: readonly WaitingClaim[]): WaitingClaim | undefined {
  return claims.reduce<WaitingClaim | undefined>(
    (last, claim) => (last === undefined || fromOf(claim) > fromOf(last) ? claim : last),
    undefined,
  );
}

function fromOf({ turn }: WaitingClaim): number {
  return turn?.from ?? -1;
}

/**
 * Sorts claims with TXT first, but puts a claim that has waited long after each of them. Otherwise someone who controls a
 * DNS zone could get all turns by using several accounts.
 */
function inLine(last: WaitingClaim | undefined, at: number): (a: WaitingClaim, b: WaitingClaim) => number {
  const rank = ({ hasTxt, askedAt = at }: WaitingClaim) => {
    if (hasTxt) return 1;
    return last?.hasTxt === true && at - askedAt >= LONG_WAIT_MS ? 0 : 2;
  };
  return (a, b) => rank(a) - rank(b) || (a.askedAt as number) - (b.askedAt as number) || a.id - b.id;
}
