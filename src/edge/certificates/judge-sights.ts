// Decides whether the edges have the answers to an order's challenges. Every edge that the authority may contact needs them.

/** State of one edge. */
export interface EdgeSight {
  readonly addresses: readonly string[];
  /** True if it reported within the last half minute. */
  readonly isHeard: boolean;
  /** True if it has the newest configuration of the domain. `untold`: it does not report its progress. */
  readonly seen: 'yes' | 'no' | 'untold';
}

/** Edges report every ten seconds. After this time, edges that the names do not lead to no longer delay an order. */
const FOLLOW_MS = 15_000;
/** How long an order waits for a silent edge, since the authority may contact it. */
const SILENT_MS = 600_000;

/** True if all edges have the answers, regardless of where the names lead. */
export function haveAllSeen(sights: readonly EdgeSight[]): boolean {
  return sights.length > 0 && sights.every(({ isHeard, seen }) => isHeard && seen === 'yes');
}

/** True if only the edges that the names lead to still matter. */
export function haveHadTime(waitedMs: number): boolean {
  return waitedMs >= FOLLOW_MS;
}

/**
 * True if no edge that a name leads to is late. An address that belongs to no edge, such as a load balancer's, represents
 * all reporting edges. `leadsTo` is undefined if the addresses of a name are not known.
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
