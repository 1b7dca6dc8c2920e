// Thirty days of parent zones that lose packets, go away, come back lame, publish at different times or show an old zone,
// and what each of their addresses says about a domain at a moment. Seeded: the same days for the same seed.

import type { Evidence, ServerEvidence, ServerOutcome } from '../../../src/checks/delegation/evidence.ts';
import { type Name, parseName, ROOT } from '../../../src/dns/name.ts';
import { pick, type Random } from '../random/random-zones.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const DAYS = 30;
export const END = DAYS * DAY;

export interface Span {
  readonly from: number;
  readonly to: number;
}

/** What a parent zone has for a domain from a moment on; its servers follow after their lags. */
export interface Published {
  readonly at: number;
  readonly kind: 'delegation' | 'nodata' | 'nxdomain' | 'alias';
  readonly ns: readonly Name[];
  readonly hasDs: boolean;
  /** Per server of the parent, in milliseconds. */
  readonly lags: readonly number[];
}

interface Fault extends Span {
  readonly outcome: Exclude<ServerOutcome, 'referral' | 'answer' | 'nodata' | 'nxdomain' | 'alias'>;
}

interface SimulatedServer {
  readonly server: Name;
  readonly address: string;
  readonly faults: readonly Fault[];
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
  readonly incident: Span | undefined;
  /** When any of its servers fails or is wrong. */
  readonly troubles: readonly Span[];
}

export interface Weather {
  /** Of packets, each way. */
  readonly loss: number;
  /** Our own network is down. */
  readonly offline: readonly Span[];
  /** How far the workers' clock is off from a moment on. */
  readonly clock: readonly { readonly from: number; readonly offset: number }[];
}

export const isWithinAny = (spans: readonly Span[], at: number): boolean =>
  spans.some(({ from, to }) => at >= from && at < to);

const span = (random: Random, first: number, last: number, shortest: number, longest: number): Span => {
  const from = first + random() * (last - first);
  return { from, to: from + shortest + random() * (longest - shortest) };
};

const FAULTS = ['timeout', 'timeout', 'lame', 'lame', 'refused', 'servfail', 'bad'] as const;
const SIZES = [4, 2, 6, 4, 13, 5, 8, 1, 6, 4, 2, 8];

export function makeParents(random: Random, count: number): SimulatedParent[] {
  return Array.from({ length: count }, (_, i) => makeParent(random, i));
}

function makeParent(random: Random, index: number): SimulatedParent {
  const zone = parseName(`tld${index}.`);
  const isOurs = index % 20 === 19;
  const size = isOurs ? 1 : (SIZES[index % SIZES.length] as number);
  const outages = isOurs
    ? []
    : [span(random, DAY, 8 * DAY, HOUR, 12 * HOUR), span(random, 15 * DAY, 24 * DAY, 26 * HOUR, 36 * HOUR)];
  const wrong = size > 1 ? [span(random, 2 * DAY, 20 * DAY, 30 * HOUR, 60 * HOUR)] : [];
  const wrongServer = Math.floor(random() * size);
  const servers = Array.from({ length: size }, (_, s): SimulatedServer => {
    const own = size > 1 && random() < 0.5 ? [span(random, 0, END, HOUR, 30 * HOUR)] : [];
    // one of two servers is wrong and the other one is away: the only address that answers gives a false answer
    const alone =
      size === 2 && s !== wrongServer
        ? wrong.map(({ from, to }) => ({ from: from + HOUR, to: to - HOUR }))
        : [];
    const faults = [...outages, ...own, ...alone].map((at) => ({ ...at, outcome: pick(random, FAULTS) }));
    return {
      server: parseName(`s${s}.tld${index}.`),
      address: isOurs ? '' : `192.0.2.${s + 1}`,
      faults: isOurs ? [] : faults,
      wrong: s === wrongServer ? wrong : [],
    };
  });
  return {
    zone,
    servers,
    isOurs,
    childServer: size >= 5 ? size - 1 : undefined,
    maxLag: isOurs ? 0 : pick(random, [0, MINUTE, 3 * MINUTE, 10 * MINUTE]),
    incident: index % 3 === 2 ? span(random, 3 * DAY, 12 * DAY, 6 * HOUR, 20 * HOUR) : undefined,
    troubles: servers.flatMap(({ faults, wrong: old }) => [...faults, ...old]),
  };
}

export function makeWeather(random: Random): Weather {
  const at = (day: number) => (day + random()) * DAY;
  const jumps = [
    { day: 4, offset: 40 * MINUTE, lasts: 2 * HOUR },
    { day: 9, offset: -2 * HOUR, lasts: 5 * HOUR },
    { day: 13, offset: 25 * HOUR, lasts: 3 * HOUR },
    { day: 18, offset: 3 * HOUR, lasts: HOUR },
    { day: 25, offset: -26 * HOUR, lasts: 4 * HOUR },
  ];
  const first = at(6);
  const second = at(20);
  return {
    loss: 0.2,
    offline: [
      { from: first, to: first + 8 * HOUR },
      { from: second, to: second + 27 * HOUR },
    ],
    clock: [
      { from: 0, offset: 0 },
      ...jumps.flatMap(({ day, offset, lasts }) => {
        const from = at(day);
        return [
          { from, offset },
          { from: from + lasts, offset: 0 },
        ];
      }),
    ],
  };
}

const GONE = { kind: 'nxdomain', ns: [], hasDs: false } as const;
type Shown = Pick<Published, 'kind' | 'ns' | 'hasDs'>;

/** What one server of the parent would say about the domain now, if it were heard. */
export function shownBy(
  parent: SimulatedParent,
  s: number,
  history: readonly Published[],
  at: number,
): Shown {
  if (isWithinAny(parent.servers[s]?.wrong ?? [], at)) return GONE;
  if (parent.incident !== undefined && isWithinAny([parent.incident], at)) return GONE;
  let newest = history[0] as Published;
  for (const published of history) if (published.at + (published.lags[s] ?? 0) <= at) newest = published;
  return newest;
}

const OLD_NS = [parseName('ns1.old.'), parseName('ns2.old.')];
const DS = Uint8Array.of(1, 2, 13, 2, 9);
const ASKED_AT_MOST = 6;
const ASKED_FIRST = 2;
const TRIES = 2;
const TIMEOUT = 3000;

export interface Observed {
  readonly evidence: Evidence;
  readonly tookMs: number;
}

/**
 * Asks two addresses first, then all up to six when those differ or do not both answer (docs/rules.md "Delegation
 * check").
 */
export function observe(
  random: Random,
  weather: Weather,
  parent: SimulatedParent,
  domain: Name,
  history: readonly Published[],
  at: number,
): Observed {
  const isOffline = !parent.isOurs && isWithinAny(weather.offline, at);
  if (isOffline && random() < 0.5) return { evidence: lostOnTheWay(domain), tookMs: 2 * TIMEOUT };
  const order = parent.servers.map((_, i) => i);
  const asked = Math.min(ASKED_AT_MOST, order.length);
  for (let i = 0; i < asked; i++) {
    const j = i + Math.floor(random() * (order.length - i));
    [order[i], order[j]] = [order[j] as number, order[i] as number];
  }
  const ask = (s: number) => askServer({ random, weather, parent, history, isOffline, at }, s);
  const servers = order.slice(0, ASKED_FIRST).map(ask);
  let tookMs = duration(servers);
  if (!isDecided(servers)) {
    const others = order.slice(ASKED_FIRST, asked).map(ask);
    tookMs += duration(others);
    servers.push(...others);
  }
  return {
    tookMs,
    evidence: {
      domain,
      parent: parent.zone,
      walk: [],
      servers,
      parentAddresses: parent.servers.length,
      failure: undefined,
      queries: servers.length,
      startedAt: at,
      finishedAt: at + tookMs,
    },
  };
}

interface Asking {
  readonly random: Random;
  readonly weather: Weather;
  readonly parent: SimulatedParent;
  readonly history: readonly Published[];
  readonly isOffline: boolean;
  readonly at: number;
}

const NO_NAMES: readonly Name[] = [];
const NO_DS: readonly Uint8Array[] = [];
const OLD_DS: readonly Uint8Array[] = [DS];

function askServer(asking: Asking, s: number): ServerEvidence {
  const { random, weather, parent, history, isOffline, at } = asking;
  const { address, server, faults } = parent.servers[s] as SimulatedServer;
  let outcome: ServerOutcome;
  let ns = NO_NAMES;
  let ds = NO_DS;
  const silence = parent.isOurs ? 'heard' : outcomeOf(random, weather, faults, isOffline, at);
  if (silence !== 'heard') outcome = silence;
  else {
    const shown = shownBy(parent, s, history, at);
    const isChild = s === parent.childServer && shown.kind === 'delegation';
    outcome = isChild ? 'answer' : shown.kind === 'delegation' ? 'referral' : shown.kind;
    ns = isChild ? OLD_NS : shown.ns;
    if (shown.hasDs && !isChild) ds = OLD_DS;
  }
  return {
    server,
    address,
    transport: parent.isOurs ? 'database' : 'udp',
    askedAt: at,
    rttMs: outcome === 'timeout' ? undefined : 20,
    outcome,
    rcode: undefined,
    aa: undefined,
    ns,
    ttl: undefined,
    ds,
    error: undefined,
  };
}

function outcomeOf(
  random: Random,
  { loss }: Weather,
  faults: readonly Fault[],
  isOffline: boolean,
  at: number,
): Fault['outcome'] | 'heard' {
  if (isOffline) return 'timeout';
  const heard = 1 - (1 - (1 - loss) ** 2) ** TRIES; // the question and the reply both arrive, in one of the tries
  if (random() >= heard) return 'timeout';
  return faults.find(({ from, to }) => at >= from && at < to)?.outcome ?? 'heard';
}

function duration(servers: readonly ServerEvidence[]): number {
  if (servers.length === 0) return 0;
  return servers.some(({ outcome }) => outcome === 'timeout') ? TRIES * TIMEOUT : 150;
}

const SURE: readonly ServerOutcome[] = ['referral', 'nodata', 'nxdomain', 'alias', 'answer'];

/** As the resolver stops: the addresses asked first are all sure, and say the same. */
function isDecided(servers: readonly ServerEvidence[]): boolean {
  const [first] = servers;
  if (first === undefined) return false;
  return servers.every(
    ({ outcome, ns }) =>
      SURE.includes(outcome) &&
      outcome === first.outcome &&
      ns.length === first.ns.length &&
      ns.every((name) => first.ns.includes(name)),
  );
}

function lostOnTheWay(domain: Name): Evidence {
  return {
    domain,
    parent: undefined,
    walk: [{ zone: ROOT, servers: [], cached: true }],
    servers: [],
    parentAddresses: 0,
    failure: { zone: ROOT, reason: 'unreachable', message: 'no answer' },
    queries: 6,
    startedAt: 0,
    finishedAt: 0,
  };
}
