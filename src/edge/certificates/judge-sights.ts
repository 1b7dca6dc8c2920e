// Whether the edges have the answers to an order's challenges: whichever of them the authority asks has to have its own.

/** What is known of one edge. */
export interface EdgeSight {
  readonly addresses: readonly string[];
  /** It has reported within the last half minute. */
  readonly isHeard: boolean;
  /** Whether it has the newest that there is of the domain; `untold`: it does not report how far it is. */
  readonly seen: 'yes' | 'no' | 'untold';
}

/** Edges report each ten seconds: those that the names do not lead to keep no order up for longer. */
const FOLLOW_MS = 15_000;
/** So long an edge that is not heard of is waited for: the authority may be led to it. */
const SILENT_MS = 600_000;

/** True without a look at where the names lead. */
export function haveAllSeen(sights: readonly EdgeSight[]): boolean {
  return sights.length > 0 && sights.every(({ isHeard, seen }) => isHeard && seen === 'yes');
}

/** Whether it depends on where the names lead. */
export function haveHadTime(waitedMs: number): boolean {
  return waitedMs >= FOLLOW_MS;
}

/**
 * Whether none is late to which a name leads. An address that is no edge's own stands for all that are heard of, as one of a
 * load balancer does. `leadsTo` undefined: it is not known where a name leads.
 */
export function haveTheirsSeen(
  sights: readonly EdgeSight[],
  leadsTo: ReadonlySet<string> | undefined,
  waitedMs: number,
): boolean {
  const own = new Set(sights.flatMap(({ addresses }) => addresses));
  const isAnyAsked = leadsTo === undefined || [...leadsTo].some((address) => !own.has(address));
  return sights.every(({ addresses, isHeard, seen }) => {
    const isAsked = addresses.some((address) => leadsTo?.has(address));
    if (!isAsked && !isAnyAsked) return true;
    if (!isHeard) return !isAsked || seen === 'yes' || waitedMs >= SILENT_MS;
    return seen !== 'no';
  });
}
