// What is wrong with the fleet, the worst first. What could not be asked is absent, and nothing is concluded from it.

/** As `/admin/nodes` has it. */
export interface NodeState {
  readonly name: string;
  readonly state: 'live' | 'silent' | 'left';
  readonly loaded: boolean;
  readonly seen_at: string;
  readonly lag_seconds?: number | undefined;
  readonly image_bytes?: number | undefined;
  readonly image_capacity_bytes?: number | undefined;
  /** Absent: more than 1,000. */
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
  /** Who made it by hand, and why. */
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

export type Trouble = { readonly weight: Weight } & (
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

/** A node follows within a second; what takes longer is worth a look. */
const LATE_SECONDS = 30;
const VERY_LATE_SECONDS = 300;
/** Of the memory for zones. Beyond it a large zone may not fit; a domain that is signed needs more, too. */
export const IMAGE_LOOK = 0.85;
const IMAGE_ACT = 0.95;
/** As long as the workers take an observer for present. */
const VANTAGE_AWAY_MS = 10 * 60_000;
/** Fewer may just have come. */
const STUCK_JOBS = 100;

const ORDER: readonly Weight[] = ['act', 'look', 'know'];

export function findTroubles({ nodes, queues, vantages, trips }: FleetState, nowMs: number): Trouble[] {
  const troubles = [
    ...(nodes === undefined ? [] : nodeTroubles(nodes)),
    ...(trips ?? []).filter(isHolding).map(tripTrouble),
    ...(queues ?? []).flatMap(queueTroubles),
    ...(vantages ?? []).flatMap((vantage) => vantageTroubles(vantage, nowMs)),
  ];
  return troubles.sort((a, b) => ORDER.indexOf(a.weight) - ORDER.indexOf(b.weight));
}

export function isHolding({ released_at, ended_at }: TripState): boolean {
  return released_at === undefined && ended_at === undefined;
}

function nodeTroubles(nodes: readonly NodeState[]): Trouble[] {
  const live = nodes.filter(({ state }) => state === 'live').length;
  return [
    ...(live === 0 ? [{ weight: 'act', kind: 'no-node' } as const] : []),
    ...nodes.filter(({ state }) => state !== 'left').flatMap((node) => troublesOf(node, live)),
  ];
}

function troublesOf(node: NodeState, live: number): Trouble[] {
  const { name, state, loaded, held, lag_seconds: lag, unserved_zones: unserved } = node;
  const found: Trouble[] = [];
  if (state === 'silent') found.push({ weight: 'act', kind: 'silent', name, othersLive: live });
  if (held !== undefined) {
    const { zones, confirmed } = held;
    found.push(
      confirmed
        ? { weight: 'know', kind: 'held-confirmed', name, zones }
        : { weight: 'act', kind: 'held', name, zones },
    );
  }
  // What a silent node last said of itself is old.
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

/** How much of its memory for zones is in use, from 0 to 1. */
export function imageShare({
  image_bytes: used,
  image_capacity_bytes: capacity,
}: Pick<NodeState, 'image_bytes' | 'image_capacity_bytes'>): number | undefined {
  return used === undefined || !capacity ? undefined : used / capacity;
}

function tripTrouble(trip: TripState): Trouble {
  const { id, parent, checked, turned, frozen_by: by, reason = '', until } = trip;
  // Somebody means it, and may forget it.
  if (by !== undefined) return { weight: 'look', kind: 'frozen', id, parent, by, reason, until };
  return { weight: 'act', kind: 'breaker', id, parent, checked, turned };
}

export type QueueCondition = 'away' | 'stuck' | 'dead' | 'fine';

export function conditionOf({ reachable, waiting = 0, active = 0, dead = 0 }: QueueState): QueueCondition {
  if (!reachable) return 'away';
  if (waiting >= STUCK_JOBS && active === 0) return 'stuck';
  return dead > 0 ? 'dead' : 'fine';
}

function queueTroubles(queue: QueueState): Trouble[] {
  const { name, waiting = 0, dead = 0 } = queue;
  const condition = conditionOf(queue);
  if (condition === 'away') return [{ weight: 'act', kind: 'queue-away', name }];
  return [
    ...(condition === 'stuck' ? [{ weight: 'act', kind: 'queue-stuck', name, jobs: waiting } as const] : []),
    ...(dead > 0 ? [{ weight: 'look', kind: 'queue-dead', name, jobs: dead } as const] : []),
  ];
}

/** One that has never run does not count, and is missed by nobody. */
function vantageTroubles({ name, seen_at: seenAt }: VantageState, nowMs: number): Trouble[] {
  const isAway = seenAt !== undefined && nowMs - Date.parse(seenAt) > VANTAGE_AWAY_MS;
  return isAway ? [{ weight: 'look', kind: 'vantage', name }] : [];
}
