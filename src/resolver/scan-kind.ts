// A kind of zone: by its language, its trade or what runs there.

export interface Kind {
  /** Names relative to the domain, and how many of them there have to be. */
  readonly signs: ReadonlySet<string>;
  readonly needed: number;
  /** A domain of which nothing has to be seen first. */
  readonly domains?: RegExp;
  /** Signs that are asked for, where nothing has told of them. */
  readonly probes?: readonly string[];
  readonly names: readonly string[];
}

/** Without doubles. */
export function list(text: string): string[] {
  return [...new Set(text.split(/\s+/).filter((word) => word !== ''))];
}

export function set(text: string): ReadonlySet<string> {
  return new Set(list(text));
}
