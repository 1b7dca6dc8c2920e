// Our nameservers that a parent showed before, and their effect on new claims (docs/rules.md "Sightings").

/** If a name has more different sightings than this, shared sets no longer prove it. */
const MOST_SIGHTINGS = 64;
/** How often a continuing sighting is written again. */
const RENEW_MS = 7 * 86_400_000;
/** How long a sighting is kept after it was last seen. */
export const SIGHTINGS_KEPT_MS = 730 * 86_400_000;

export interface Sighting {
  /** Sorted. */
  readonly names: readonly string[];
  /** In milliseconds since 1970. */
  readonly lastSeenAt: number;
}

/** True if a check that saw these names must write them. `names` are sorted. */
export function isNewSighting(known: readonly Sighting[], names: readonly string[], at: number): boolean {
  if (names.length === 0) return false;
  const same = known.find((sighting) => sighting.names.join(' ') === names.join(' '));
  if (same === undefined) return known.length <= MOST_SIGHTINGS;
  return at - same.lastSeenAt > RENEW_MS;
}

/** True if there are so many sightings that any of our nameservers may have been shown. */
export function areTooMany(known: readonly Sighting[]): boolean {
  return known.length > MOST_SIGHTINGS;
}
