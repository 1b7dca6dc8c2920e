// Thirty days of parent zones that lose packets, go away, come back lame, publish at different times or show an old zone.
// Seeded: the same days for the same seed.

import type { Evidence, ServerOutcome } from '../../../src/checks/delegation/evidence.ts';
import { type Name, parseName, ROOT } from '../../../src/dns/name.ts';
import { pick, type Random } from '../random/random-zones.ts';
import { ABSENT, observeParent, type Shown, serverEvidence } from './parent-evidence.ts';
import { DAY, HOUR, isWithin, MINUTE, type Span } from './virtual-time.ts';

export const END = 30 * DAY;

/** What a parent zone has for a domain from a moment on; its servers follow after their lags. */
export interface Published extends Shown {
  readonly at: number;
  /** Per server of the parent, in milliseconds. */
  readonly lags: readonly number[];
}

interface SimulatedServer {
  readonly name: Name;
  readonly address: string;
  readonly faults: readonly (Span & { readonly outcome: ServerOutcome })[];
  /** It serves an old zone, in which none of our domains is. */
  readonly wrong: readonly Span[];
}

export interface SimulatedParent {
  readonly zone: Name;
  readonly servers: readonly SimulatedServer[];
  /** This fleet serves it: Postgres is asked. */
  readonly isOurs: boolean;
  /** The server that also holds the domains' own zones, as they were before they came to us. */
  readonly childServer: number | undefined;
  readonly maxLag: number;
  /** All of its servers have lost our domains: the registry's mistake, over before MOVED_AFTER. */
  readonly incident: readonly Span[];
}

export interface Weather {
  /** Our own network is down. */
  readonly offline: readonly Span[];
  /** How far the workers' clock is off from a moment on. */
  readonly clock: readonly { readonly from: number; readonly offset: number }[];
}

/** The share of packets that are lost, each way. */
const LOSS = 0.2;
const FAULTS = ['timeout', 'timeout', 'lame', 'lame', 'refused', 'servfail', 'bad'] as const;
const SIZES = [4, 2, 6, 4, 13, 5, 8, 1, 6, 4, 2, 8];

const span = (random: Random, first: number, last: number, shortest: number, longest: number): Span => {
  const from = first + random() * (last - first);
  return { from, to: from + shortest + random() * (longest - shortest) };
};

export function makeParent(random: Random, index: number): SimulatedParent {
  const isOurs = index % 20 === 19;
  const size = isOurs ? 1 : (SIZES[index % SIZES.length] as number);
  const outages = [
    span(random, DAY, 8 * DAY, HOUR, 12 * HOUR),
    span(random, 15 * DAY, 24 * DAY, 26 * HOUR, 36 * HOUR),
  ];
  const wrong = size > 1 ? [span(random, 2 * DAY, 20 * DAY, 30 * HOUR, 60 * HOUR)] : [];
  const wrongServer = Math.floor(random() * size);
  const servers = Array.from({ length: size }, (_, s): SimulatedServer => {
    const own = size > 1 && random() < 0.5 ? [span(random, 0, END, HOUR, 30 * HOUR)] : [];
    // one of two servers is wrong and the other one is away: the only address that answers gives a false answer
    const isAlone = size === 2 && s !== wrongServer;
    const alone = isAlone ? wrong.map(({ from, to }) => ({ from: from + HOUR, to: to - HOUR })) : [];
    const faults = [...outages, ...own, ...alone].map((at) => ({ ...at, outcome: pick(random, FAULTS) }));
    return {
      name: parseName(`s${s}.tld${index}.`),
      address: isOurs ? '' : `192.0.2.${s + 1}`,
      faults: isOurs ? [] : faults,
      wrong: s === wrongServer ? wrong : [],
    };
  });
  return {
    zone: parseName(`tld${index}.`),
    servers,
    isOurs,
    childServer: size >= 5 ? size - 1 : undefined,
    maxLag: isOurs ? 0 : pick(random, [0, MINUTE, 3 * MINUTE, 10 * MINUTE]),
    incident: index % 3 === 2 ? [span(random, 3 * DAY, 12 * DAY, 6 * HOUR, 20 * HOUR)] : [],
  };
}

export function makeWeather(random: Random): Weather {
  const at = (day: number) => (day + random()) * DAY;
  const offline = (day: number, lasts: number) => {
    const from = at(day);
    return { from, to: from + lasts };
  };
  const jump = (day: number, offset: number, lasts: number) => {
    const from = at(day);
    return [
      { from, offset },
      { from: from + lasts, offset: 0 },
    ];
  };
  return {
    offline: [offline(6, 8 * HOUR), offline(20, 27 * HOUR)],
    clock: [
      { from: 0, offset: 0 },
      ...jump(4, 40 * MINUTE, 2 * HOUR),
      ...jump(9, -2 * HOUR, 5 * HOUR),
      ...jump(13, 25 * HOUR, 3 * HOUR),
      ...jump(18, 3 * HOUR, HOUR),
      ...jump(25, -26 * HOUR, 4 * HOUR),
    ],
  };
}

/** What one server of the parent would say about the domain now, if it were heard. */
export function shownBy(
  { servers, incident }: SimulatedParent,
  s: number,
  history: readonly Published[],
  at: number,
): Shown {
  if (isWithin([...incident, ...(servers[s]?.wrong ?? [])], at)) return ABSENT;
  const newest = history.findLast((published) => published.at + (published.lags[s] ?? 0) <= at);
  return newest ?? (history[0] as Published);
}

export function observe(
  random: Random,
  weather: Weather,
  parent: SimulatedParent,
  domain: Name,
  history: readonly Published[],
  at: number,
): Evidence {
  const isOffline = !parent.isOurs && isWithin(weather.offline, at);
  if (isOffline && random() < 0.5) return lostOnTheWay(domain, at);
  // the question and the reply both arrive, in one of two tries
  const heard = 1 - (1 - (1 - LOSS) ** 2) ** 2;
  const ask = (s: number) => {
    const server = parent.servers[s] as SimulatedServer;
    const isLost = !parent.isOurs && (isOffline || random() >= heard);
    const fault = isLost ? 'timeout' : server.faults.find((each) => isWithin([each], at))?.outcome;
    const shown = shownBy(parent, s, history, at);
    const isChild = s === parent.childServer && shown.kind === 'delegation';
    return serverEvidence(server, fault ?? (isChild ? 'answer' : shown), at);
  };
  return observeParent(random, { domain, zone: parent.zone, count: parent.servers.length }, at, ask);
}

function lostOnTheWay(domain: Name, at: number): Evidence {
  return {
    domain,
    parent: undefined,
    walk: [{ zone: ROOT, servers: [], cached: true }],
    servers: [],
    parentAddresses: 0,
    failure: { zone: ROOT, reason: 'unreachable', message: 'no answer' },
    queries: 6,
    startedAt: at,
    finishedAt: at + 6000,
  };
}
