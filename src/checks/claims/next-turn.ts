// Whose nameservers the apex of a name shows while several claims wait for it: registries that look before they delegate
// must see the claim's own set (docs/rules.md "Turns").

const TURN_MS = 15 * 60_000;
/** A claim that has waited so long goes next after one with TXT. */
const LONG_WAIT_MS = 3_600_000;
/** How often one claim may ask for a turn. */
export const TURN_EACH_MS = 3_600_000;

export interface WaitingClaim {
  readonly id: number;
  /** The claim's account published the TXT value: it goes before others. */
  readonly hasTxt: boolean;
  /** When it asked for a turn that it has not had yet. All times are milliseconds since 1970. */
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
  /** The turn begins now: the claim no longer asks. */
  readonly isNew: boolean;
}

/**
 * Undefined when no claim waits. Without anyone in line the last turn goes on, but a claim without TXT gives it to one that
 * has it: only that one is answered whole.
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

/** Whether another claim has its turn when the newest one ends. */
export function isFollowed(claims: readonly WaitingClaim[]): boolean {
  const isAsked = claims.some(({ askedAt }) => askedAt !== undefined);
  return isAsked || (newest(claims)?.hasTxt === false && withTxt(claims).length > 0);
}

function withTxt(claims: readonly WaitingClaim[]): readonly WaitingClaim[] {
  return claims.filter(({ hasTxt }) => hasTxt);
}

/** The claim that had the last turn; the first one if none had any. */
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
 * Claims with TXT go first. But after one of them comes a claim that has waited long: whoever controls a DNS could else have
 * all turns, by several accounts.
 */
function inLine(last: WaitingClaim | undefined, at: number): (a: WaitingClaim, b: WaitingClaim) => number {
  const rank = ({ hasTxt, askedAt = at }: WaitingClaim) => {
    if (hasTxt) return 1;
    return last?.hasTxt === true && at - askedAt >= LONG_WAIT_MS ? 0 : 2;
  };
  return (a, b) => rank(a) - rank(b) || (a.askedAt as number) - (b.askedAt as number) || a.id - b.id;
}
