// A kind of zone: its language, its trade, or the software that runs there.

export interface Kind {
  /** Names relative to the domain that indicate this kind, and how many of them must exist. */
  readonly signs: ReadonlySet<string>;
  readonly needed: number;
  /** Domain names that indicate this kind without any sign. */
  readonly domains?: RegExp;
  /** The signs to query if nothing has indicated the kind yet. */
  readonly probes?: readonly string[];
  readonly names: readonly string[];
}

/** Splits a list into words, without duplicates. */
export function list(text: string): string[] {
  return [...new Set(text.split(/\s+/).filter((word) => word !== ''))];
}

export function set(text: string): ReadonlySet<string> {
  return new Set(list(text));
}
