// The zones of the servers: a few with their own records, or many with those of one recipe.

export interface ZoneText {
  /** With the trailing dot. */
  readonly apex: string;
  /** A zone file without $ORIGIN: names are relative to the apex. */
  readonly text: string;
}

export interface ZoneSet {
  /** Name of databases and files. Sets with the same name have the same content. */
  readonly name: string;
  readonly zones: readonly ZoneText[];
  /** This many additional zones with the contents `recipe.text` and the names `recipe.apexOf(0)` and so on. */
  readonly recipe?: { readonly count: number; readonly text: string; apexOf(index: number): string };
  readonly records: number;
}

/** Apexes whose SOAs must be answered before the set counts as served: the zones, and some from all over the recipe's. */
export function probesOf(set: ZoneSet): string[] {
  const { zones, recipe } = set;
  const apexes = zones.map((zone) => zone.apex);
  if (recipe === undefined) return apexes;
  const count = Math.min(recipe.count, PROBES);
  for (let i = 0; i < count; i++) {
    apexes.push(recipe.apexOf(Math.floor(((recipe.count - 1) * i) / Math.max(1, count - 1))));
  }
  return apexes;
}
const PROBES = 50;

export function zoneCount(set: ZoneSet): number {
  return set.zones.length + (set.recipe?.count ?? 0);
}
