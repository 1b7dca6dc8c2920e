// The sequence of faults of a run: from a seed, in rounds that contain each fault once, in random order.

import { randomOf } from '../../test/support/billing/random.ts';

export const TARGETS = [
  'ns1',
  'ns2',
  'ns3',
  'api-1',
  'api-2',
  'workers-1',
  'workers-2',
  'postgres',
  'standby',
  'redis',
  'disk',
] as const;
export type Target = (typeof TARGETS)[number];

/**
 * `kill`: SIGKILL, and a start later. `freeze`: SIGSTOP, and SIGCONT later. `restart`: SIGTERM and an immediate start.
 * `stop`: a regular stop, and a start later. `hand-over`: a node restart without a lost answer. `fill`: no disk space.
 */
export type FaultKind = 'kill' | 'freeze' | 'restart' | 'stop' | 'hand-over' | 'fill';

export interface Fault {
  readonly kind: FaultKind;
  readonly target: Target;
  /** Pause before the fault. */
  readonly waitMs: number;
  readonly lastsMs: number;
  /** True if the next fault begins while this one lasts. */
  readonly overlaps: boolean;
}

/** Processes that no fault ends, so that their memory can be compared over hours. */
export const UNDISTURBED: readonly Target[] = ['ns1', 'api-1', 'workers-1'];

const POSSIBLE: readonly (readonly [Target, readonly FaultKind[]])[] = [
  ['ns1', ['freeze']],
  ['ns2', ['kill', 'freeze', 'restart', 'hand-over']],
  ['ns3', ['kill', 'freeze', 'hand-over']],
  ['api-1', ['freeze']],
  ['api-2', ['kill', 'freeze', 'restart']],
  ['workers-1', ['freeze']],
  ['workers-2', ['kill', 'freeze', 'restart']],
  ['postgres', ['kill', 'freeze', 'restart', 'stop']],
  ['standby', ['kill', 'freeze', 'stop']],
  ['redis', ['kill', 'freeze']],
  ['disk', ['fill']],
];
/** Faults of these targets overlap only with faults of the others. */
const STORES: readonly Target[] = ['postgres', 'standby', 'redis', 'disk'];

/** At the usual pace, a fault lasts between 2 and 30 seconds. */
const USUAL_EVERY_MS = 120_000;
const SHORTEST_MS = 2000;
const LONGEST_MS = 30_000;

export interface FaultPlan {
  readonly seed: number;
  /** Mean pause between faults. */
  readonly everyMs: number;
  readonly without: readonly Target[];
}

/** Never ends. */
export function* planFaults({ seed, everyMs, without }: FaultPlan): Generator<Fault> {
  const random = randomOf(seed);
  const factor = Math.min(1, everyMs / USUAL_EVERY_MS);
  const all = POSSIBLE.filter(([target]) => !without.includes(target)).flatMap(([target, kinds]) =>
    kinds.map((kind) => ({ target, kind })),
  );
  for (;;) {
    const round = shuffled(all, random);
    let overlapping: Target[] = [];
    for (const [i, { target, kind }] of round.entries()) {
      const next = round[i + 1]?.target;
      overlapping.push(target);
      const isOther =
        next !== undefined &&
        STORES.includes(target) !== STORES.includes(next) &&
        !overlapping.includes(next);
      const overlaps = isOther && random(3) === 0;
      if (!overlaps) overlapping = [];
      yield {
        target,
        kind,
        waitMs: Math.round(everyMs * (0.5 + random(1000) / 1000)),
        lastsMs: Math.round((SHORTEST_MS + random(LONGEST_MS - SHORTEST_MS)) * factor),
        overlaps,
      };
    }
  }
}

function shuffled<T>(items: readonly T[], random: (below: number) => number): T[] {
  const left = [...items];
  return items.map(() => left.splice(random(left.length), 1)[0] as T);
}
