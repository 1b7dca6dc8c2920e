// What a look-up of an ANAME's target means (docs/rules.md "Published records"): which addresses are published from now
// on, and when the next look-up is due. Only the target's own zone, when it says so twice, takes the last good
// addresses away.

import type { WalkFailure } from '../delegation/evidence.ts';
import type { FamilyEvidence, TargetEvidence } from './target-evidence.ts';

/** The state of one family, A or AAAA. Times are milliseconds since 1970. */
export interface FamilyState {
  /** The published addresses, in canonical order; undefined: not known yet. */
  readonly addresses: readonly string[] | undefined;
  /** When the zone first said that there are none: they are published until it says so again. */
  readonly goneAt: number | undefined;
}

interface TargetFailure {
  readonly reason: WalkFailure['reason'];
  readonly message: string;
  readonly since: number;
  /** How many look-ups in a row have failed. */
  readonly count: number;
}

export interface TargetState {
  readonly v4: FamilyState;
  readonly v6: FamilyState;
  /** The published TTL in seconds: never above the target's, but perhaps below it. */
  readonly ttl: number | undefined;
  readonly failure: TargetFailure | undefined;
}

export interface TargetRules {
  /** The least time from one look-up's start to the next one's. */
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
  /**
   * The longest wait for a target that fails or has no addresses. A target that had some is still asked again within
   * its TTL.
   */
  readonly maxRetryMs: number;
  /** The time between the two answers by which a zone says that there are none. */
  readonly goneAfterMs: number;
}

export const TARGET_RULES: TargetRules = {
  minIntervalMs: 60_000,
  maxIntervalMs: 3_600_000,
  maxRetryMs: 600_000,
  goneAfterMs: 600_000,
};

export interface TargetDecision {
  readonly state: TargetState;
  /** What is published has changed. */
  readonly isChanged: boolean;
  readonly dueAt: number;
}

/** The most addresses, since each is published for every ANAME that points to the target. */
const MAX_ADDRESSES = 64;

export function nextTarget(
  before: TargetState,
  evidence: TargetEvidence,
  rules: TargetRules = TARGET_RULES,
): TargetDecision {
  const at = evidence.finishedAt;
  const v4 = nextFamily(before.v4, evidence.v4, at, rules);
  const v6 = nextFamily(before.v6, evidence.v6, at, rules);
  const isOtherSet = differ(before.v4, v4) || differ(before.v6, v6);
  const ttl = nextTtl(before, { v4, v6 }, evidence, isOtherSet);
  const failure = nextFailure(before, { v4, v6 }, evidence);
  const state = { v4, v6, ttl, failure };
  return {
    state,
    isChanged:
      isOtherSet || isSeen(state) !== isSeen(before) || (ttl !== before.ttl && (hasAny(v4) || hasAny(v6))),
    dueAt: dueAt(state, evidence, rules),
  };
}

function nextFamily(
  { addresses, goneAt }: FamilyState,
  evidence: FamilyEvidence,
  at: number,
  { goneAfterMs }: TargetRules,
): FamilyState {
  switch (evidence.kind) {
    case 'found':
      return { addresses: evidence.addresses.slice(0, MAX_ADDRESSES), goneAt: undefined };
    case 'none': {
      if (addresses === undefined || addresses.length === 0) return { addresses: [], goneAt: undefined };
      if (goneAt === undefined || at < goneAt) return { addresses, goneAt: at }; // or the clock was set back
      return at - goneAt < goneAfterMs ? { addresses, goneAt } : { addresses: [], goneAt: undefined };
    }
    case 'failed':
      return { addresses, goneAt };
    default:
      return evidence satisfies never;
  }
}

/** Whether the addresses are known. Until then what was there before is published (`aname-targets.ts`). */
function isSeen({ v4, v6, ttl }: TargetState): boolean {
  return ttl !== undefined || (v4.addresses !== undefined && v6.addresses !== undefined);
}

type Families = Pick<TargetState, 'v4' | 'v6'>;

/** The next TTL. Only another set, or a lower TTL, causes a change; a higher TTL comes with the next change. */
function nextTtl(
  before: TargetState,
  after: Families,
  evidence: TargetEvidence,
  isOtherSet: boolean,
): number | undefined {
  const seen = (['v4', 'v6'] as const).flatMap((family) => {
    const said = evidence[family];
    if (said.kind === 'found') return [said.ttl];
    return hasAny(after[family]) && before.ttl !== undefined ? [before.ttl] : []; // the family stays published as before
  });
  if (seen.length === 0) return before.ttl;
  const lowest = Math.min(...seen);
  return before.ttl === undefined || isOtherSet ? lowest : Math.min(lowest, before.ttl);
}

/** The failure after a look-up, if any: a family that has addresses cannot be found, or no address of any family is known. */
function nextFailure(
  { failure }: TargetState,
  after: Families,
  evidence: TargetEvidence,
): TargetFailure | undefined {
  const isFound = evidence.v4.kind === 'found' || evidence.v6.kind === 'found';
  for (const family of ['v4', 'v6'] as const) {
    const said = evidence[family];
    if (said.kind !== 'failed' || (isFound && !hasAny(after[family]))) continue;
    const { reason, message } = said;
    return {
      reason,
      message,
      since: failure?.since ?? evidence.finishedAt,
      count: (failure?.count ?? 0) + 1,
    };
  }
  return undefined;
}

function dueAt(state: TargetState, evidence: TargetEvidence, rules: TargetRules): number {
  const { minIntervalMs, maxIntervalMs, maxRetryMs, goneAfterMs } = rules;
  const wanted = [
    ...(state.failure === undefined ? [] : [retryMs(state, state.failure, evidence.finishedAt, rules)]),
    ...[evidence.v4, evidence.v6].flatMap((said) => (said.kind === 'found' ? [said.ttl * 1000] : [])),
  ];
  if (wanted.length === 0) {
    const ttls = [evidence.v4, evidence.v6].flatMap((said) =>
      said.kind === 'none' ? [said.ttl * 1000] : [],
    );
    // A target that never had addresses may get some soon, and its servers answer at once, so asking costs little.
    wanted.push(state.ttl === undefined ? minIntervalMs : Math.min(maxRetryMs, ...ttls));
  }
  const next = evidence.startedAt + clamp(Math.min(...wanted), minIntervalMs, maxIntervalMs);
  const going = [state.v4, state.v6].flatMap(({ goneAt }) =>
    goneAt === undefined ? [] : [goneAt + goneAfterMs],
  );
  return Math.max(Math.min(next, ...going), evidence.startedAt + minIntervalMs);
}

/**
 * The wait until the next try: longer each time, but a target that is reachable again is noticed within its TTL. A
 * target without addresses answers for no name: it is tried often at first, and rarely if it fails for long, since dead
 * servers take up the longest time of a look-up.
 */
function retryMs(
  { v4, v6, ttl }: TargetState,
  failure: TargetFailure,
  at: number,
  rules: TargetRules,
): number {
  const { minIntervalMs, maxRetryMs } = rules;
  const most = ttl === undefined ? maxRetryMs : Math.min(maxRetryMs, ttl * 1000);
  if (!hasAny(v4) && !hasAny(v6)) return clamp((at - failure.since) / 10, minIntervalMs, most);
  const { count } = failure;
  return Math.min(minIntervalMs * 2 ** Math.min(count - 1, 30), most);
}

function differ({ addresses: a = [] }: FamilyState, { addresses: b = [] }: FamilyState): boolean {
  return a.length !== b.length || a.some((address, i) => address !== b[i]);
}

function hasAny({ addresses }: FamilyState): boolean {
  return addresses !== undefined && addresses.length > 0;
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, value));
}

/** The evidence as a loop: the aliases lead, through ANAME records of this fleet, back to where they began. */
export function asLoop(evidence: TargetEvidence, message: string): TargetEvidence {
  const failed = { kind: 'failed', reason: 'loop', message } as const;
  return { ...evidence, v4: failed, v6: failed };
}
