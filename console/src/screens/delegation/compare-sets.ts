// Differences between the nameservers at the registry and the expected ones.

export type NameMark =
  /** Listed and expected. */
  | 'keep'
  /** Listed but not expected. */
  | 'remove'
  /** Expected but not listed. */
  | 'add';

export interface MarkedName {
  readonly name: string;
  readonly mark: NameMark;
}

export type SetVerdict = 'match' | 'partial' | 'extra' | 'mixed' | 'foreign';

/** Sorted: names to keep, then names to remove, then names to add. */
export function compareNames(listed: readonly string[], wanted: readonly string[]): readonly MarkedName[] {
  const isListed = new Set(listed.map(fold));
  const isWanted = new Set(wanted.map(fold));
  const mark = (names: readonly string[], mark: NameMark) => names.map((name) => ({ name, mark }));
  return [
    ...mark(
      listed.filter((name) => isWanted.has(fold(name))),
      'keep',
    ),
    ...mark(
      listed.filter((name) => !isWanted.has(fold(name))),
      'remove',
    ),
    ...mark(
      wanted.filter((name) => !isListed.has(fold(name))),
      'add',
    ),
  ];
}

/** Compares a list of nameservers with the accepted sets. Only exactly one complete set is correct. */
export function judgeNames(listed: readonly string[], accepted: readonly (readonly string[])[]): SetVerdict {
  const names = new Set(listed.map(fold));
  const sets = accepted.map((set) => new Set(set.map(fold)));
  const ours = new Set(sets.flatMap((set) => [...set]));
  const shown = [...names].filter((name) => ours.has(name));
  if (shown.length === 0) return 'foreign';
  const isWhole = (set: ReadonlySet<string>) => [...set].every((name) => names.has(name));
  if (sets.some((set) => isWhole(set) && set.size === names.size)) return 'match';
  if (!sets.some((set) => shown.every((name) => set.has(name)))) return 'mixed';
  return sets.some(isWhole) ? 'extra' : 'partial';
}

function fold(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
