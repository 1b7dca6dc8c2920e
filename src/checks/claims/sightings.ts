// Which names of ours a parent showed before, and what that means for a claim that begins (docs/rules.md "Sightings").

/** Beyond so many different sightings of a name, no shared set proves it any more. */
const MOST_SIGHTINGS = 64;
/** A sighting that goes on is written anew so often. */
const RENEW_MS = 7 * 86_400_000;
/** How long a sighting is kept after it was last seen. */
export const SIGHTINGS_KEPT_MS = 730 * 86_400_000;

export interface Sighting {
  /** Sorted. */
  readonly names: readonly string[];
  /** In milliseconds since 1970. */
  readonly lastSeenAt: number;
}

/** Whether a check that saw these names has to write them. `names` are sorted. */
export function isNewSighting(known: readonly Sighting[], names: readonly string[], at: number): boolean {
  if (names.length === 0) return false;
  const same = known.find((sighting) => sighting.names.join(' ') === names.join(' '));
  if (same === undefined) return known.length <= MOST_SIGHTINGS;
  return at - same.lastSeenAt > RENEW_MS;
}

/** So many were seen that any name of ours may have been. */
export function areTooMany(known: readonly Sighting[]): boolean {
  return known.length > MOST_SIGHTINGS;
}
