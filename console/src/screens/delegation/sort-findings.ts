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
/** Verdicts about a delegation that the owner is to change. */
const REPLACED: ReadonlySet<string> = new Set(['partial', 'extra', 'mixed', 'foreign', 'not_delegated']);
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

/** Codes of findings that state only which nameservers to change at the registrar. */
const CHANGES: ReadonlySet<string> = new Set(['NS_MISSING', 'NS_EXTRA', 'NS_MIXED', 'NOT_DELEGATED']);

interface SplitFindings {
  readonly main: readonly SortedFinding[];
  /** About nameservers that are to be replaced. They do not hold the domain back. */
  readonly present: readonly SortedFinding[];
}

/**
 * While the delegation is not correct, the screen lists the changes at the registrar. Then findings that repeat these changes
 * are omitted, and so is advice of the nameserver check about the registrar, because it assumes the present nameservers.
 */
export function splitFindings(
  ofDomain: readonly SourceFinding[],
  ofServers: readonly SourceFinding[],
  verdict: string | undefined,
): SplitFindings {
  if (verdict === undefined || !REPLACED.has(verdict))
    return { main: sortFindings(ofDomain, ofServers), present: [] };
  const apart = new Set(ofServers.map(keyOf));
  return {
    main: sortFindings(
      ofDomain.filter((finding) => !apart.has(keyOf(finding)) && !CHANGES.has(finding.code)),
    ),
    present: sortFindings(ofServers.filter(({ place }) => place !== 'registrar')),
  };
}

function keyOf({ code, message }: SourceFinding): string {
  return `${code} ${message}`;
}
