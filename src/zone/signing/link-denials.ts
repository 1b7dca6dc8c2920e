// The ring of NSEC or NSEC3 records after a change: each points to the next one, and the last to the first (RFC 4034
// §4.1.1, RFC 5155 §7.1). Positions are canonical keys or hashes as strings that sort like octets.

/** The existing records are inconsistent: the whole zone must be signed again. */
export class BrokenRing extends Error {
  override readonly name = 'BrokenRing';
}

interface RingChange {
  /** The existing links: position → next position. Includes the link before each added or removed position. */
  readonly standing: ReadonlyMap<string, string>;
  readonly come: Iterable<string>;
  /** All of them are in `standing`. */
  readonly gone: ReadonlySet<string>;
}

/** Returns the next position for each position that is added or remains in `standing`. Throws BrokenRing. */
export function linkDenials({ standing, come, gone }: RingChange): Map<string, string> {
  const places = [...new Set([...standing.keys(), ...come])].sort(compare);
  const stays = places.filter((place) => !gone.has(place));
  const linked = new Map<string, string>();
  let before = places.findLast((place) => standing.has(place));
  if (before === undefined) throw new BrokenRing('no denial precedes the new names');
  let at = 0;
  for (const place of places) {
    const after = standing.get(before) as string;
    if (standing.has(place)) {
      if (gone.has(place) && after !== place) throw new BrokenRing('no denial precedes a removed one');
      before = place;
    } else if (!isBetween(before, place, after)) {
      throw new BrokenRing('no denial precedes a new name');
    }
    if (gone.has(place)) continue;
    const next = stays[++at % stays.length] as string;
    const existing = successor(standing, gone, before);
    // An existing link that was not read may be nearer than the next known one.
    linked.set(place, standing.has(existing) || isBetween(place, next, existing) ? next : existing);
  }
  return linked;
}

/** Returns the next position after `place`, skipping removed ones. */
function successor(standing: ReadonlyMap<string, string>, gone: ReadonlySet<string>, place: string): string {
  let next = standing.get(place) as string;
  for (let left = gone.size; gone.has(next); left--) {
    if (left === 0) return place; // all existing links are removed
    next = standing.get(next) as string;
  }
  return next;
}

export function linkAll(places: Iterable<string>): Map<string, string> {
  const sorted = [...places].sort(compare);
  return new Map(sorted.map((place, i) => [place, sorted[(i + 1) % sorted.length] as string]));
}

/** Returns true if `place` is after `from` and before `to` on the ring. */
function isBetween(from: string, place: string, to: string): boolean {
  if (from < to) return from < place && place < to;
  return place !== from && place !== to && (from < place || place < to);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
