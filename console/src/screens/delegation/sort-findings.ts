// Findings of the domain, of its newest check and of its nameserver check, without duplicates and most urgent first.

export interface SourceFinding {
  readonly code: string;
  readonly message: string;
  readonly names?: readonly string[] | undefined;
  readonly severity?: string | undefined;
  readonly place?: string | undefined;
}

export type Weight =
  /** Requires action, or visitors are affected. */
  | 'act'
  /** Should be improved, without urgency. */
  | 'improve'
  /** For information only. */
  | 'know';

export interface SortedFinding extends SourceFinding {
  readonly weight: Weight;
}

const KNOW: ReadonlySet<string> = new Set([
  'TAKEOVER_WAITS',
  'NS_TURN',
  'CAME_BACK',
  'PARENT_UNREACHABLE',
  'PARENT_LAME',
  'PARENT_BOGUS',
  'PARENT_FAILS',
  'PARENTS_DISAGREE',
  'PARENT_SETS_AA',
  'PARENT_AWKWARD',
  'UNCONFIRMED',
  'TRY_LATER',
  'MOVES_HELD',
  'ROOT_FAULT',
  'VANTAGES_DISAGREE',
  'VANTAGES_AWAY',
]);
const IMPROVE: ReadonlySet<string> = new Set([
  'APEX_ONLY',
  'PREPARE',
  'VALIDATION_LIMIT',
  'WALK_LIMIT',
  'DELEGATION_LOOP',
]);
const ORDER: readonly Weight[] = ['act', 'improve', 'know'];

/** Findings of the nameserver check have a severity; that of other findings depends on their code. */
export function weigh({ code, severity }: SourceFinding): Weight {
  if (severity === 'error') return 'act';
  if (severity === 'warning') return 'improve';
  if (severity === 'notice' || KNOW.has(code)) return 'know';
  return IMPROVE.has(code) ? 'improve' : 'act';
}

/** If several lists have the finding, the first severity applies. */
export function sortFindings(...lists: readonly (readonly SourceFinding[])[]): readonly SortedFinding[] {
  const found = new Map<string, SourceFinding>();
  for (const finding of lists.flat()) {
    const key = keyOf(finding);
    const before = found.get(key);
    if (before === undefined || (before.severity === undefined && finding.severity !== undefined)) {
      found.set(key, { ...before, ...finding });
    }
  }
  return [...found.values()]
    .map((finding) => ({ ...finding, weight: weigh(finding) }))
    .sort((a, b) => ORDER.indexOf(a.weight) - ORDER.indexOf(b.weight));
}

/** Separates findings about nameservers that are to be replaced anyway (`foreign`), because they do not hold the domain back. */
export function splitFindings(
  ofDomain: readonly SourceFinding[],
  ofServers: readonly SourceFinding[],
  verdict: string | undefined,
): { readonly main: readonly SortedFinding[]; readonly present: readonly SortedFinding[] } {
  if (verdict !== 'foreign') return { main: sortFindings(ofDomain, ofServers), present: [] };
  const apart = new Set(ofServers.map(keyOf));
  return {
    main: sortFindings(ofDomain.filter((finding) => !apart.has(keyOf(finding)))),
    present: sortFindings(ofServers),
  };
}

function keyOf({ code, message }: SourceFinding): string {
  return `${code} ${message}`;
}
