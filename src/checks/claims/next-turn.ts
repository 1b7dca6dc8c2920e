// Whose nameservers the apex of a name shows while several claims wait for it: registries that look before they delegate
// must see the claim's own set (docs/rules.md "Turns").

const TURN_MS = 15 * 60_000;
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

/** Undefined when no claim waits. Without anyone in line the last turn goes on. */
export function nextTurn(claims: readonly WaitingClaim[], at: number): TurnNow | undefined {
  const current = claims.reduce<WaitingClaim | undefined>(
    (last, claim) => ((claim.turn?.from ?? -1) > (last?.turn?.from ?? -1) ? claim : last),
    undefined,
  );
  const turn = current?.turn;
  if (current !== undefined && turn !== undefined && turn.until > at)
    return { id: current.id, turn, isNew: false };
  const [next] = claims.filter(({ askedAt }) => askedAt !== undefined).sort(inLine);
  const chosen = next ?? current ?? claims[0];
  if (chosen === undefined) return undefined;
  if (chosen === current && next === undefined && turn !== undefined)
    return { id: chosen.id, turn, isNew: false };
  return { id: chosen.id, turn: { from: at, until: at + TURN_MS }, isNew: true };
}

function inLine(a: WaitingClaim, b: WaitingClaim): number {
  return Number(b.hasTxt) - Number(a.hasTxt) || (a.askedAt as number) - (b.askedAt as number) || a.id - b.id;
}
