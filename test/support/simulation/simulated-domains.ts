// Domains of a simulated fleet, each with what its owner (or a hijacker) does with the delegation in thirty days.

import type { CheckState, Expected, NameserverSet } from '../../../src/checks/delegation/check-state.ts';
import type { Verdict } from '../../../src/checks/delegation/verdict.ts';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { pick, type Random } from '../random/random-zones.ts';
import { names } from '../world/check-evidence.ts';
import type { Shown } from './parent-evidence.ts';
import type { Published, SimulatedParent } from './simulated-parents.ts';
import { DAY, HOUR, MINUTE } from './virtual-time.ts';

const SETS: readonly NameserverSet[] = [
  names('ns1.a ns2.a'),
  names('ns1.b ns2.b ns3.b'),
  names('ns1.c ns2.c'),
];
const OURS: ReadonlySet<Name> = new Set(SETS.flat());
export const EXPECTED: Expected = { sets: SETS, ours: OURS };
const [A, B] = SETS as [NameserverSet, NameserverSet];
const FOREIGN = names('ns1.x ns2.x');

export interface SimulatedDomain {
  readonly name: Name;
  readonly kind: string;
  readonly parent: SimulatedParent;
  readonly createdAt: number;
  readonly history: readonly Published[];
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
  looks: { readonly count: number; readonly firstAt: number; readonly lastAt: number } | undefined;
  movedAt: number | undefined;
  /** When a move was held last. */
  heldAt: number | undefined;
}

export function makeDomain(
  random: Random,
  index: number,
  parents: readonly SimulatedParent[],
): SimulatedDomain {
  const [kind, , scriptOf] = drawKind(random);
  const able = kind === 'brief' ? parents.filter(({ incident }) => incident.length === 0) : parents;
  // registries have many servers, and most of the domains
  const parent = pick(
    random,
    able.flatMap((each) => (each.servers.length > 2 ? [each, each, each] : [each])),
  );
  const { createdAt = 0, history, ...more } = scriptOf(random, parent);
  const isOld = createdAt === 0;
  return {
    name: parseName(`d${index}.example.`),
    kind,
    parent,
    createdAt,
    history: history.map((step) => ({ ...step, lags: parent.servers.map(() => random() * parent.maxLag) })),
    departsAt: more.departsAt,
    switchesAt: more.switchesAt,
    state: isOld
      ? {
          status: 'active',
          since: -100 * DAY,
          misses: undefined,
          conclusive: { at: -HOUR, oursShown: true, othersShown: false },
          witnessAt: undefined,
        }
      : undefined,
    enteredAt: isOld ? -100 * DAY : createdAt,
    due: isOld ? random() * 12 * HOUR : createdAt,
    lastVerdict: isOld ? 'match' : undefined,
    unknowns: 0,
    looks: undefined,
    movedAt: undefined,
    heldAt: undefined,
  };
}

type Step = Omit<Published, 'lags'>;

interface Script {
  /** Undefined if the domain has long been active when the simulation begins. */
  readonly createdAt?: number;
  readonly history: readonly Step[];
  readonly departsAt?: number;
  readonly switchesAt?: number;
}

const LONG_AGO = -200 * DAY;
const step = (at: number, ns: readonly Name[], hasDs = false): Step => ({
  at,
  kind: 'delegation',
  ns,
  hasDs,
});
const absent = (at: number, kind: Shown['kind']): Step => ({ at, kind, ns: [], hasDs: false });
const between = (random: Random, from: number, to: number) => from + random() * (to - from);
const created = (random: Random) => between(random, MINUTE, 27 * DAY);
const oneOfOurs = (random: Random, at: number, hasDs = false) => step(at, pick(random, SETS), hasDs);
const nothingYet = (random: Random) =>
  pick(random, [absent(LONG_AGO, 'nxdomain'), absent(LONG_AGO, 'nodata'), step(LONG_AGO, FOREIGN)]);
const gone = (random: Random, at: number) =>
  pick(random, [
    step(at, FOREIGN),
    step(at, FOREIGN),
    absent(at, pick(random, ['nxdomain', 'nodata', 'alias'])),
  ]);

/** What the domains do, with the share of each in a hundred. */
const KINDS: readonly (readonly [
  kind: string,
  share: number,
  script: (random: Random, parent: SimulatedParent) => Script,
])[] = [
  [
    'prompt', // delegates within 6 hours of the creation
    35,
    (random) => {
      const createdAt = created(random);
      const at = createdAt + 2 * MINUTE + Math.min(-Math.log(1 - random()) * HOUR, 5.7 * HOUR);
      const set = pick(random, SETS);
      const slip = step(at - MINUTE, [...set.slice(1), ...FOREIGN.slice(0, random() < 0.5 ? 1 : 0)]);
      const isWrongFirst = random() < 0.1;
      return { createdAt, history: [nothingYet(random), ...(isWrongFirst ? [slip] : []), step(at, set)] };
    },
  ],
  [
    'late',
    8,
    (random) => {
      const createdAt = created(random);
      const at = createdAt + between(random, 6 * HOUR, 18 * DAY);
      return { createdAt, history: [nothingYet(random), oneOfOurs(random, at)] };
    },
  ],
  [
    'staleDs', // delegates with a DS of the old provider, which goes later
    3,
    (random) => {
      const createdAt = created(random);
      const with_ = oneOfOurs(random, createdAt + between(random, 10 * MINUTE, 5 * HOUR), true);
      const without = step(with_.at + between(random, HOUR, 2 * DAY), with_.ns);
      return { createdAt, history: [nothingYet(random), with_, without] };
    },
  ],
  [
    'never',
    4,
    (random) => ({
      createdAt: between(random, MINUTE, DAY),
      history: [random() < 0.2 ? absent(LONG_AGO, 'alias') : nothingYet(random)],
    }),
  ],
  [
    'early', // the parent shows an accepted set long before the domain is created
    8,
    (random) => ({ createdAt: created(random), history: [oneOfOurs(random, LONG_AGO)] }),
  ],
  [
    'departs', // for good, or for days
    14,
    (random, { incident: [mistake] }) => {
      // a return between a mistake of the registry and a departure must be long enough to be seen, and vice versa
      const aside = (at: number) =>
        mistake !== undefined && at > mistake.from - DAY && at < mistake.to + DAY ? mistake.to + DAY : at;
      const departsAt = aside(between(random, DAY, 20 * DAY));
      const back = oneOfOurs(random, aside(departsAt + between(random, DAY, 9 * DAY)));
      const history = [oneOfOurs(random, LONG_AGO), gone(random, departsAt)];
      return { departsAt, history: random() < 0.4 ? [...history, back] : history };
    },
  ],
  [
    'brief', // away for less than MOVED_AFTER
    6,
    (random) => {
      const at = between(random, DAY, 27 * DAY);
      const back = oneOfOurs(random, at + between(random, HOUR, 23 * HOUR));
      return { history: [oneOfOurs(random, LONG_AGO), gone(random, at), back] };
    },
  ],
  [
    'muddled', // some of our servers are left out, or others added, for days
    4,
    (random) => {
      const at = between(random, DAY, 20 * DAY);
      const shown = pick(random, [A.slice(1), [...A, ...FOREIGN], [...A, ...B], [...B.slice(1), ...FOREIGN]]);
      const back = step(at + between(random, DAY, 9 * DAY), A);
      return { history: [oneOfOurs(random, LONG_AGO), step(at, shown), back] };
    },
  ],
  [
    'leaving',
    3,
    (random) => {
      const switchesAt = between(random, DAY, 12 * DAY);
      const left = gone(random, switchesAt + between(random, HOUR, 20 * DAY));
      return { switchesAt, history: [oneOfOurs(random, LONG_AGO), ...(random() < 0.7 ? [left] : [])] };
    },
  ],
  ['settled', 15, (random) => ({ history: [oneOfOurs(random, LONG_AGO)] })],
];

function drawKind(random: Random): (typeof KINDS)[number] {
  let left = random() * 100;
  return KINDS.find(([, share]) => {
    left -= share;
    return left < 0;
  }) as (typeof KINDS)[number];
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
