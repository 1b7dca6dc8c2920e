// Finds problems of the fleet, most severe first. Data that could not be loaded is absent and ignored.

/** From `/admin/nodes`. */
export interface NodeState {
  readonly name: string;
  readonly state: 'live' | 'silent' | 'left';
  readonly loaded: boolean;
  readonly seen_at: string;
  readonly lag_seconds?: number | undefined;
  readonly image_bytes?: number | undefined;
  readonly image_capacity_bytes?: number | undefined;
  /** Absent if there are more than 1,000. */
  readonly unserved_zones?: number | undefined;
  readonly held?: { readonly zones: number; readonly confirmed: boolean } | undefined;
}

export interface QueueState {
  readonly name: string;
  readonly reachable: boolean;
  readonly waiting?: number | undefined;
  readonly active?: number | undefined;
  readonly dead?: number | undefined;
}

export interface VantageState {
  readonly name: string;
  readonly seen_at?: string | undefined;
}

export interface TripState {
  readonly id: number;
  readonly parent?: string | undefined;
  readonly checked: number;
  readonly turned: number;
  readonly released_at?: string | undefined;
  readonly ended_at?: string | undefined;
  /** Operator who froze the changes, and the reason. */
  readonly frozen_by?: string | undefined;
  readonly reason?: string | undefined;
  readonly until?: string | undefined;
}

export interface FleetState {
  readonly nodes?: readonly NodeState[] | undefined;
  readonly queues?: readonly QueueState[] | undefined;
  readonly vantages?: readonly VantageState[] | undefined;
  readonly trips?: readonly TripState[] | undefined;
}

export type Weight = 'act' | 'look' | 'know';

export type Problem = { readonly weight: Weight } & (
  | { readonly kind: 'no-node' }
  | { readonly kind: 'silent'; readonly name: string; readonly othersLive: number }
  | { readonly kind: 'loading'; readonly name: string }
  | { readonly kind: 'held' | 'held-confirmed'; readonly name: string; readonly zones: number }
  | { readonly kind: 'unserved'; readonly name: string; readonly zones: number | undefined }
  | { readonly kind: 'behind'; readonly name: string; readonly seconds: number }
  | { readonly kind: 'image'; readonly name: string; readonly share: number }
  | {
      readonly kind: 'breaker';
      readonly id: number;
      readonly parent: string | undefined;
      readonly checked: number;
      readonly turned: number;
    }
  | {
      readonly kind: 'frozen';
      readonly id: number;
      readonly parent: string | undefined;
      readonly by: string;
      readonly reason: string;
      readonly until: string | undefined;
    }
  | { readonly kind: 'queue-away'; readonly name: string }
  | { readonly kind: 'queue-dead' | 'queue-stuck'; readonly name: string; readonly jobs: number }
  | { readonly kind: 'vantage'; readonly name: string }
);

/** Nodes normally follow within one second. */
const LATE_SECONDS = 30;
const VERY_LATE_SECONDS = 300;
/** Share of the memory for zones. Above it, a large or newly signed zone may not fit. */
export const IMAGE_LOOK = 0.85;
const IMAGE_ACT = 0.95;
/** The workers consider an observer online for this long. */
const VANTAGE_AWAY_MS = 10 * 60_000;
/** Fewer jobs may have just arrived. */
const STUCK_JOBS = 100;

const ORDER: readonly Weight[] = ['act', 'look', 'know'];

export function findProblems({ nodes, queues, vantages, trips }: FleetState, nowMs: number): Problem[] {
  const problems = [
    ...(nodes === undefined ? [] : nodeProblems(nodes)),
    ...(trips ?? []).filter(isHolding).map(tripProblem),
    ...(queues ?? []).flatMap(queueProblems),
    ...(vantages ?? []).flatMap((vantage) => vantageProblems(vantage, nowMs)),
  ];
  return problems.sort((a, b) => ORDER.indexOf(a.weight) - ORDER.indexOf(b.weight));
}

export function isHolding({ released_at, ended_at }: TripState): boolean {
  return released_at === undefined && ended_at === undefined;
}

function nodeProblems(nodes: readonly NodeState[]): Problem[] {
  const live = nodes.filter(({ state }) => state === 'live').length;
  return [
    ...(live === 0 ? [{ weight: 'act', kind: 'no-node' } as const] : []),
    ...nodes.filter(({ state }) => state !== 'left').flatMap((node) => problemsOf(node, live)),
  ];
}

function problemsOf(node: NodeState, live: number): Problem[] {
  const { name, state, loaded, held, lag_seconds: lag, unserved_zones: unserved } = node;
  const found: Problem[] = [];
  if (state === 'silent') found.push({ weight: 'act', kind: 'silent', name, othersLive: live });
  if (held !== undefined) {
    const { zones, confirmed } = held;
    found.push(
      confirmed
        ? { weight: 'know', kind: 'held-confirmed', name, zones }
        : { weight: 'act', kind: 'held', name, zones },
    );
  }
  // The last report of a silent node is outdated.
  if (state === 'silent') return found;
  if (!loaded) return [...found, { weight: 'know', kind: 'loading', name }];
  if (unserved !== 0) found.push({ weight: 'act', kind: 'unserved', name, zones: unserved });
  if (lag !== undefined && lag >= LATE_SECONDS) {
    found.push({ weight: lag >= VERY_LATE_SECONDS ? 'act' : 'look', kind: 'behind', name, seconds: lag });
  }
  const share = imageShare(node);
  if (share !== undefined && share >= IMAGE_LOOK)
    found.push({ weight: share >= IMAGE_ACT ? 'act' : 'look', kind: 'image', name, share });
  return found;
}

/** Used share of the memory for zones, from 0 to 1. */
export function imageShare({
  image_bytes: used,
  image_capacity_bytes: capacity,
}: Pick<NodeState, 'image_bytes' | 'image_capacity_bytes'>): number | undefined {
  return used === undefined || !capacity ? undefined : used / capacity;
}

function tripProblem(trip: TripState): Problem {
  const { id, parent, checked, turned, frozen_by: by, reason = '', until } = trip;
  // An intended freeze may be forgotten.
  if (by !== undefined) return { weight: 'look', kind: 'frozen', id, parent, by, reason, until };
  return { weight: 'act', kind: 'breaker', id, parent, checked, turned };
}

export type QueueCondition = 'away' | 'stuck' | 'dead' | 'fine';

export function conditionOf({ reachable, waiting = 0, active = 0, dead = 0 }: QueueState): QueueCondition {
  if (!reachable) return 'away';
  if (waiting >= STUCK_JOBS && active === 0) return 'stuck';
  return dead > 0 ? 'dead' : 'fine';
}

function queueProblems(queue: QueueState): Problem[] {
  const { name, waiting = 0, dead = 0 } = queue;
  const condition = conditionOf(queue);
  if (condition === 'away') return [{ weight: 'act', kind: 'queue-away', name }];
  return [
    ...(condition === 'stuck' ? [{ weight: 'act', kind: 'queue-stuck', name, jobs: waiting } as const] : []),
    ...(dead > 0 ? [{ weight: 'look', kind: 'queue-dead', name, jobs: dead } as const] : []),
  ];
}

/** An observer that has never run is not used, so its absence is not a problem. */
function vantageProblems({ name, seen_at: seenAt }: VantageState, nowMs: number): Problem[] {
  const isAway = seenAt !== undefined && nowMs - Date.parse(seenAt) > VANTAGE_AWAY_MS;
  return isAway ? [{ weight: 'look', kind: 'vantage', name }] : [];
}
