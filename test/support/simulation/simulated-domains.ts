// Domains of a simulated fleet, each with what its owner (or a hijacker) does with the delegation in thirty days.

import type { CheckState, Expected, NameserverSet } from '../../../src/checks/delegation/check-state.ts';
import type { Verdict } from '../../../src/checks/delegation/verdict.ts';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { pick, type Random } from '../random/random-zones.ts';
import { names } from '../world/check-evidence.ts';
import { DAY, HOUR, MINUTE, type Published, type SimulatedParent } from './simulated-parents.ts';

export const SETS: readonly NameserverSet[] = [
  names('ns1.a ns2.a'),
  names('ns1.b ns2.b ns3.b'),
  names('ns1.c ns2.c'),
];
export const EXPECTED: Expected = { sets: SETS, ours: new Set(SETS.flat()) };
const [A, B] = SETS as [NameserverSet, NameserverSet];
const FOREIGN = names('ns1.x ns2.x');

/** Of a hundred domains. */
const SHARES = {
  /** Delegates within 6 hours of the creation. */
  prompt: 35,
  late: 8,
  /** Delegates with a DS of the old provider, which goes later. */
  staleDs: 3,
  never: 4,
  /** The parent shows an accepted set long before the domain is created. */
  early: 8,
  settled: 15,
  /** For good, or for days. */
  departs: 14,
  /** Away for less than MOVED_AFTER. */
  brief: 6,
  /** Some of our servers are left out, or others added, for days. */
  muddled: 4,
  leaving: 3,
} as const;
export type Kind = keyof typeof SHARES;

export interface SimulatedDomain {
  readonly name: Name;
  readonly kind: Kind;
  readonly parent: SimulatedParent;
  readonly createdAt: number;
  /** Grows when the owner reacts. */
  readonly history: Published[];
  readonly departsAt: number | undefined;
  /** To external mode. */
  readonly switchesAt: number | undefined;
  /** Undefined before it is created and after it ended. */
  state: CheckState | undefined;
  /** Real time of the newest status. */
  enteredAt: number;
  due: number;
  lastVerdict: Verdict | undefined;
  /** Checks in a row that saw nothing. */
  unknowns: number;
  /** Confirmed sights of the parent without us, since it was last seen with us. */
  looks: { count: number; firstAt: number; lastAt: number } | undefined;
  movedAt: number | undefined;
  /** When a move was held last. */
  heldAt: number | undefined;
}

export function makeDomain(
  random: Random,
  index: number,
  parents: readonly SimulatedParent[],
): SimulatedDomain {
  const kind = kindOf(random);
  const parent = parentFor(random, kind, parents);
  const script = scriptOf(random, kind, parent);
  const isOld = script.createdAt === 0;
  return {
    name: parseName(`d${index}.example.`),
    kind,
    parent,
    createdAt: script.createdAt,
    history: script.history.map((published) => withLags(random, parent, published)),
    departsAt: script.departsAt,
    switchesAt: script.switchesAt,
    state: isOld
      ? {
          status: 'active',
          since: -100 * DAY,
          misses: undefined,
          conclusive: { at: -HOUR, oursShown: true, othersShown: false },
          witnessAt: undefined,
        }
      : undefined,
    enteredAt: isOld ? -100 * DAY : script.createdAt,
    due: isOld ? random() * 12 * HOUR : script.createdAt,
    lastVerdict: isOld ? 'match' : undefined,
    unknowns: 0,
    looks: undefined,
    movedAt: undefined,
    heldAt: undefined,
  };
}

function kindOf(random: Random): Kind {
  let left = random() * 100;
  for (const [kind, share] of Object.entries(SHARES)) {
    left -= share;
    if (left < 0) return kind as Kind;
  }
  return 'settled';
}

function parentFor(random: Random, kind: Kind, parents: readonly SimulatedParent[]): SimulatedParent {
  const able = kind === 'brief' ? parents.filter(({ incident }) => incident === undefined) : parents;
  // registries have many servers, and most of the domains
  return pick(
    random,
    able.flatMap((parent) => (parent.servers.length > 2 ? [parent, parent, parent] : [parent])),
  );
}

type Step = Omit<Published, 'lags'>;
const step = (at: number, ns: readonly Name[], hasDs = false): Step => ({
  at,
  kind: 'delegation',
  ns,
  hasDs,
});
const absent = (at: number, kind: 'nodata' | 'nxdomain' | 'alias'): Step => ({
  at,
  kind,
  ns: [],
  hasDs: false,
});

function withLags(random: Random, parent: SimulatedParent, published: Step): Published {
  return { ...published, lags: parent.servers.map(() => random() * parent.maxLag) };
}

interface Script {
  /** 0: long active when the simulation begins. */
  readonly createdAt: number;
  readonly history: readonly Step[];
  readonly departsAt?: number;
  readonly switchesAt?: number;
}

const LONG_AGO = -200 * DAY;

function scriptOf(random: Random, kind: Kind, { incident }: SimulatedParent): Script {
  const between = (from: number, to: number) => from + random() * (to - from);
  const nothingYet = (): Step =>
    pick(random, [absent(LONG_AGO, 'nxdomain'), absent(LONG_AGO, 'nodata'), step(LONG_AGO, FOREIGN)]);
  const gone = (at: number): Step =>
    pick(random, [
      step(at, FOREIGN),
      step(at, FOREIGN),
      absent(at, 'nxdomain'),
      absent(at, 'nodata'),
      absent(at, 'alias'),
    ]);
  /** A return between a mistake of the registry and a departure, or the other way round, must be long enough to be seen. */
  const aside = (at: number) =>
    incident !== undefined && at > incident.from - DAY && at < incident.to + DAY ? incident.to + DAY : at;
  const createdAt = between(MINUTE, 27 * DAY);
  const before = step(LONG_AGO, pick(random, SETS));
  switch (kind) {
    case 'prompt': {
      const at = createdAt + 2 * MINUTE + Math.min(-Math.log(1 - random()) * HOUR, 5.7 * HOUR);
      const set = pick(random, SETS);
      const slip =
        random() < 0.1
          ? [step(at - MINUTE, [...set.slice(1), ...FOREIGN.slice(0, random() < 0.5 ? 1 : 0)])]
          : [];
      return { createdAt, history: [nothingYet(), ...slip, step(at, set)] };
    }
    case 'late':
      return {
        createdAt,
        history: [nothingYet(), step(createdAt + between(6 * HOUR, 18 * DAY), pick(random, SETS))],
      };
    case 'staleDs': {
      const at = createdAt + between(10 * MINUTE, 5 * HOUR);
      const set = pick(random, SETS);
      return {
        createdAt,
        history: [nothingYet(), step(at, set, true), step(at + between(HOUR, 2 * DAY), set)],
      };
    }
    case 'never':
      return {
        createdAt: between(MINUTE, DAY),
        history: [random() < 0.2 ? absent(LONG_AGO, 'alias') : nothingYet()],
      };
    case 'early':
      return { createdAt, history: [before] };
    case 'settled':
      return { createdAt: 0, history: [before] };
    case 'departs': {
      const departsAt = aside(between(DAY, 20 * DAY));
      const back = random() < 0.4 ? [step(aside(departsAt + between(DAY, 9 * DAY)), pick(random, SETS))] : [];
      return { createdAt: 0, departsAt, history: [before, gone(departsAt), ...back] };
    }
    case 'brief': {
      const at = between(DAY, 27 * DAY);
      return {
        createdAt: 0,
        history: [before, gone(at), step(at + between(HOUR, 23 * HOUR), pick(random, SETS))],
      };
    }
    case 'muddled': {
      const at = between(DAY, 20 * DAY);
      const shown = [A.slice(1), [...A, ...FOREIGN], [...A, ...B], [...B.slice(1), ...FOREIGN]];
      return {
        createdAt: 0,
        history: [before, step(at, pick(random, shown)), step(at + between(DAY, 9 * DAY), A)],
      };
    }
    case 'leaving': {
      const switchesAt = between(DAY, 12 * DAY);
      return {
        createdAt: 0,
        switchesAt,
        history: [before, ...(random() < 0.7 ? [gone(switchesAt + between(HOUR, 20 * DAY))] : [])],
      };
    }
    default:
      return kind satisfies never;
  }
}

/** Since when every server of the parent shows an accepted set and no DS; undefined while they do not. */
export function readySince({ history }: SimulatedDomain, at: number): number | undefined {
  const newest = history.findLast((published) => published.at <= at);
  if (newest === undefined || !showsAcceptedSet(newest)) return undefined;
  const everywhere = newest.at + Math.max(...newest.lags);
  return everywhere > at ? undefined : everywhere;
}

/** Exactly a set of the fleet, without a DS. */
export function showsAcceptedSet({ ns, hasDs }: Pick<Published, 'ns' | 'hasDs'>): boolean {
  return !hasDs && SETS.some((set) => set.length === ns.length && set.every((name) => ns.includes(name)));
}

/** Any server of the fleet. */
export function namesOurs(ns: readonly Name[]): boolean {
  return ns.some((name) => OURS.has(name));
}

const OURS: ReadonlySet<Name> = new Set(SETS.flat());
