// Decides, from a lookup of an ANAME target (docs/rules.md "Published records"), which addresses to publish and when to
// look it up again. Known addresses are removed only if the target's own zone answers twice that there are none.

import type { WalkFailure } from '../delegation/evidence.ts';
import type { FamilyEvidence, TargetEvidence } from './target-evidence.ts';

/** State of one address family, A or AAAA. Times are milliseconds since 1970. */
export interface FamilyState {
  /** Published addresses in canonical order. Undefined if not yet known. */
  readonly addresses: readonly string[] | undefined;
  /** When the zone first answered that there are none. The addresses stay published until it repeats that answer. */
  readonly goneAt: number | undefined;
}

interface TargetFailure {
  readonly reason: WalkFailure['reason'];
  readonly message: string;
  readonly since: number;
  /** Number of consecutive failed lookups. */
  readonly count: number;
}

export interface TargetState {
  readonly v4: FamilyState;
  readonly v6: FamilyState;
  /** Published TTL in seconds: at most the target's TTL, but possibly lower. */
  readonly ttl: number | undefined;
  readonly failure: TargetFailure | undefined;
}

export interface TargetRules {
  /** Minimum time from the start of one lookup to the start of the next. */
  readonly minIntervalMs: number;
  readonly maxIntervalMs: number;
  /** Maximum wait for a target that fails or has no addresses. A target that had addresses is still retried within its TTL. */
  readonly maxRetryMs: number;
  /** Minimum time between the two answers by which a zone confirms that there are no addresses. */
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
  /** True if the published data has changed. */
  readonly isChanged: boolean;
  readonly dueAt: number;
}

/** Maximum number of addresses per target. Each is published for every ANAME that points to the target. */
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
      if (goneAt === undefined || at < goneAt) return { addresses, goneAt: at }; // at < goneAt: the clock was set back
      return at - goneAt < goneAfterMs ? { addresses, goneAt } : { addresses: [], goneAt: undefined };
    }
    case 'failed':
      return { addresses, goneAt };
    default:
      return evidence satisfies never;
  }
}

/** True if the addresses are known. Until then, `aname-targets.ts` keeps publishing the previous ones. */
function isSeen({ v4, v6, ttl }: TargetState): boolean {
  return ttl !== undefined || (v4.addresses !== undefined && v6.addresses !== undefined);
}

type Families = Pick<TargetState, 'v4' | 'v6'>;

/** Returns the next TTL. Only a different set or a lower TTL causes a change; a higher TTL is adopted with the next change. */
function nextTtl(
  before: TargetState,
  after: Families,
  evidence: TargetEvidence,
  isOtherSet: boolean,
): number | undefined {
  const seen = (['v4', 'v6'] as const).flatMap((family) => {
    const said = evidence[family];
    if (said.kind === 'found') return [said.ttl];
    return hasAny(after[family]) && before.ttl !== undefined ? [before.ttl] : []; // the family's addresses stay published
  });
  if (seen.length === 0) return before.ttl;
  const lowest = Math.min(...seen);
  return before.ttl === undefined || isOtherSet ? lowest : Math.min(lowest, before.ttl);
}

/**
 * Returns the failure after a lookup, if any: a family with addresses was not found, or no address of either family is
 * known.
 */
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
    // A target that never had addresses may get some soon. Its servers answer quickly, so querying often costs little.
    wanted.push(state.ttl === undefined ? minIntervalMs : Math.min(maxRetryMs, ...ttls));
  }
  const next = evidence.startedAt + clamp(Math.min(...wanted), minIntervalMs, maxIntervalMs);
  const going = [state.v4, state.v6].flatMap(({ goneAt }) =>
    goneAt === undefined ? [] : [goneAt + goneAfterMs],
  );
  return Math.max(Math.min(next, ...going), evidence.startedAt + minIntervalMs);
}

/**
 * Returns the wait until the next retry. It grows with each failure, but never exceeds the TTL, so that a recovered target
 * is noticed. A target without addresses is retried often at first and rarely later, because unresponsive servers make a
 * lookup slow.
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

/** Marks the evidence as a loop: the aliases lead, through ANAME records of this fleet, back to the target. */
export function asLoop(evidence: TargetEvidence, message: string): TargetEvidence {
  const failed = { kind: 'failed', reason: 'loop', message } as const;
  return { ...evidence, v4: failed, v6: failed };
}
