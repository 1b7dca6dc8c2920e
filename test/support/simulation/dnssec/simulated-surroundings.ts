// What is around a simulated domain for 400 days, drawn before they begin: its parent's addresses, our nodes, workers, clock,
// backups, and what its registrar is like.

import { pick, type Random } from '../../random/random-zones.ts';
import { DAY, HOUR, MINUTE, type Span } from '../virtual-time.ts';

export const DAYS = 400;
/** From then on nothing new is wanted, and registrars do what they are told. */
export const CALM = 300 * DAY;

export interface SimulatedAddress {
  /** The largest lag behind the registrar. */
  readonly lag: number;
  /** An instance of an anycast address that others see and we never do. */
  readonly isHidden: boolean;
  readonly silent: readonly Span[];
  /** It tells us that there is no DS. */
  readonly lying: readonly Span[];
}

export interface SimulatedNode {
  /** It serves on, and neither hears nor is heard. */
  readonly cutOff: readonly Span[];
  /** It serves nothing and is not heard. */
  readonly lost: readonly Span[];
  /** Its image has no room for a new version of the zone. */
  readonly full: readonly Span[];
  /** It is heard, and has each change after up to so long. */
  readonly lag: number;
  /** It sends signatures that do not verify: a bug of ours. */
  readonly broken: Span | undefined;
  /** The operator says that it is gone. */
  readonly forgottenAt: number;
}

const REGISTRARS = [
  'soon',
  'late',
  'never',
  'partial',
  'flapping',
  'rolls back',
  'adds foreign',
  'types wrong',
  'reads CDS',
  'removes unasked',
  'acts early',
] as const;
/** `scripted`: it does what a story says, and nothing of its own. */
export type RegistrarKind = (typeof REGISTRARS)[number] | 'scripted';

export interface Surroundings {
  readonly registrar: RegistrarKind;
  readonly addresses: readonly SimulatedAddress[];
  readonly dsTtl: number;
  readonly nsTtl: number;
  /** From when on the zone has which largest TTL in seconds. */
  readonly dataTtls: readonly { readonly at: number; readonly ttl: number }[];
  readonly nodes: readonly SimulatedNode[];
  readonly workersDown: readonly Span[];
  readonly clock: readonly { readonly at: number; readonly offset: number }[];
  /** The setting KEY_BACKUP_AFTER: no backup that is restored is older. */
  readonly backupAfterMs: number;
  readonly restores: readonly number[];
  /** How often a step is followed by a restore, which then matters most. */
  readonly restoreShare: number;
  /** When others serve the domain; the first one may begin before us. */
  readonly elsewhere: readonly Span[];
  /** Owners and operators are in haste at times, which leaves out what guards against restores: there are none then. */
  readonly isHasty: boolean;
  /** When the owner wants something else. */
  readonly goals: readonly number[];
  /** When records are edited: the zone has a new version, and the same keys. */
  readonly edits: readonly number[];
  readonly isSplit: boolean;
}

export function drawSurroundings(random: Random): Surroundings {
  const chance = (share: number) => random() < share;
  const between = (from: number, to: number) => from + random() * (to - from);
  const span = (longest: number, last = CALM): Span => {
    const from = between(0, last);
    return { from, to: from + between(HOUR, longest) };
  };
  const some = <T>(share: number, most: number, make: () => T): T[] =>
    chance(share) ? Array.from({ length: 1 + Math.floor(random() * most) }, make) : [];
  const lags = [MINUTE, 10 * MINUTE, HOUR, DAY];
  const address = (): SimulatedAddress => ({
    lag: pick(random, lags),
    isHidden: false,
    silent: some(0.3, 4, () => span(chance(0.2) ? 20 * DAY : 6 * HOUR)),
    lying: some(0.15, 4, () => span(DAY)),
  });
  const node = (_: unknown, index: number): SimulatedNode => {
    const isDead = index > 0 && chance(0.05);
    const died = between(0, CALM);
    const isBroken = !isDead && chance(0.05);
    const lost = some(0.2, 2, () => span(25 * DAY));
    return {
      cutOff: some(0.35, 3, () => span(17 * DAY)),
      // one that is broken is seen to be: it does not come back so when nobody waits for it any more
      lost: isDead ? [{ from: died, to: 1000 * DAY }] : isBroken ? [] : lost,
      full: some(0.15, 2, () => span(10 * DAY)),
      lag: pick(random, [MINUTE, MINUTE, MINUTE, HOUR, 12 * HOUR]),
      broken: isBroken ? { from: 0, to: between(5 * DAY, 40 * DAY) } : undefined,
      forgottenAt: isDead && chance(0.5) ? died + between(DAY, 10 * DAY) : Number.POSITIVE_INFINITY,
    };
  };
  const isHasty = chance(0.15);
  const goals = Array.from({ length: 1 + Math.floor(random() * 8) }, () => between(5 * DAY, CALM - 15 * DAY));
  // what matters is what happens while steps wait for each other
  const soonAfter = (share: number) =>
    goals.filter(() => chance(share)).map((at) => at + between(0, 4 * DAY));
  const backupAfterMs = chance(0.3) ? HOUR : DAY;
  const visible = Array.from({ length: pick(random, [1, 2, 2, 4, 6]) }, address);
  const [wrong, ...right] = visible;
  // one that has an old zone for long does no harm while another one answers
  if (wrong !== undefined && right.some(({ silent, lying }) => silent.length + lying.length === 0))
    visible[0] = { ...wrong, lying: [...wrong.lying, ...some(0.3, 2, () => span(20 * DAY))] };
  const hidden = some(0.4, 2, (): SimulatedAddress => ({ lag: DAY, isHidden: true, silent: [], lying: [] }));
  const movedIn = chance(0.4) ? [{ from: -1000 * DAY, to: between(0, 5 * DAY) }] : [];
  return {
    registrar: pick(random, REGISTRARS),
    addresses: [...visible, ...hidden],
    dsTtl: pick(random, [300, 3600, 3600, 86_400, 86_400, 2 * 86_400, 10 * 86_400]),
    nsTtl: pick(random, [3600, 86_400, 2 * 86_400]),
    dataTtls: [0, ...some(0.5, 6, () => between(0, CALM)).sort((a, b) => a - b)].map((at) => ({
      at,
      ttl: pick(random, [300, 3600, 86_400, 2 * 86_400]),
    })),
    nodes: Array.from({ length: 3 }, node),
    workersDown: some(0.5, 4, () => span(7 * DAY)),
    clock: [
      { at: 0, offset: 0 },
      ...some(0.4, 12, () => ({ at: between(0, CALM), offset: between(-2, 2) * HOUR })),
      ...soonAfter(0.15).flatMap((at) => [
        { at: at - 2 * DAY, offset: -2 * HOUR },
        { at, offset: 2 * HOUR },
      ]),
    ].sort((a, b) => a.at - b.at),
    backupAfterMs,
    restoreShare: isHasty ? 0 : 0.08,
    restores: isHasty ? [] : some(0.5, 3, () => between(2 * DAY, CALM - 15 * DAY)).sort((a, b) => a - b),
    goals,
    edits: some(0.7, 12, () => between(0, CALM)),
    elsewhere: [...movedIn, ...some(0.2, 2, () => span(30 * DAY, CALM - 40 * DAY))].sort(
      (a, b) => a.from - b.from,
    ),
    isHasty,
    isSplit: chance(0.4),
  };
}

/** The end of the span that it is within, if any. */
export function endOf(spans: readonly Span[], at: number): number | undefined {
  const within = spans.filter(({ from, to }) => at >= from && at < to);
  return within.length === 0 ? undefined : Math.max(...within.map(({ to }) => to));
}

export function valueAt<T extends { readonly at: number }>(values: readonly T[], at: number): T {
  return values.findLast((value) => value.at <= at) ?? (values[0] as T);
}
