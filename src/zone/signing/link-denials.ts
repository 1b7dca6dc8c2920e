// The ring of NSEC or NSEC3 records after a change: each points to the one behind it, and the last to the first (RFC 4034
// §4.1.1, RFC 5155 §7.1). Places are canonical keys or hashes as strings, which sort as octets.

/** What stands in the zone does not fit together: it is to be signed anew as a whole. */
export class BrokenRing extends Error {
  override readonly name = 'BrokenRing';
}

interface RingChange {
  /** Of records that stand: the place to which each points. The one before each place that comes or goes is among these. */
  readonly standing: ReadonlyMap<string, string>;
  readonly come: Iterable<string>;
  /** All stand in `standing`. */
  readonly gone: ReadonlySet<string>;
}

/** The next place for each place that comes or stays in `standing`. Throws BrokenRing. */
export function linkDenials({ standing, come, gone }: RingChange): Map<string, string> {
  const places = [...new Set([...standing.keys(), ...come])].sort(compare);
  const stays = places.filter((place) => !gone.has(place));
  const linked = new Map<string, string>();
  let before = places.findLast((place) => standing.has(place));
  if (before === undefined) throw new BrokenRing('no denial stands before the names that come');
  let at = 0;
  for (const place of places) {
    const after = standing.get(before) as string;
    if (standing.has(place)) {
      if (gone.has(place) && after !== place) throw new BrokenRing('a denial that goes has none before it');
      before = place;
    } else if (!isBetween(before, place, after)) {
      throw new BrokenRing('a name that comes has no denial before it');
    }
    if (gone.has(place)) continue;
    const next = stays[++at % stays.length] as string;
    const stood = successor(standing, gone, before);
    // One that was not read is there already: it may lie nearer than the next that is known.
    linked.set(place, standing.has(stood) || isBetween(place, next, stood) ? next : stood);
  }
  return linked;
}

/** Where the record at a place points to without those that go. */
function successor(standing: ReadonlyMap<string, string>, gone: ReadonlySet<string>, place: string): string {
  let next = standing.get(place) as string;
  for (let left = gone.size; gone.has(next); left--) {
    if (left === 0) return place; // all that stood goes
    next = standing.get(next) as string;
  }
  return next;
}

/** The ring of a whole zone. */
export function linkAll(places: Iterable<string>): Map<string, string> {
  const sorted = [...places].sort(compare);
  return new Map(sorted.map((place, i) => [place, sorted[(i + 1) % sorted.length] as string]));
}

/** Whether `place` lies behind `from` and before `to` on the ring. */
function isBetween(from: string, place: string, to: string): boolean {
  if (from < to) return from < place && place < to;
  return place !== from && place !== to && (from < place || place < to);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
