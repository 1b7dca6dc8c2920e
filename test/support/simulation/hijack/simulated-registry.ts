// The parent of one simulated name for a thousand days: what its registrants published, servers that follow late, fall silent,
// or lie, and what a check hears of them.

import type { Evidence, ServerEvidence, ServerOutcome } from '../../../../src/checks/delegation/evidence.ts';
import { type Name, parseName } from '../../../../src/dns/name.ts';
import { pick, type Random } from '../../random/random-zones.ts';
import { DAY, HOUR, isWithinAny, MINUTE, type Span } from '../simulated-parents.ts';

export const DAYS = 1000;
export const END = DAYS * DAY;
const DOMAIN = parseName('shop.tld.');
const PARENT = parseName('tld.');

export interface Shown {
  readonly kind: 'delegation' | 'nodata' | 'nxdomain' | 'alias';
  readonly ns: readonly Name[];
  readonly hasDs: boolean;
}

/** What the registry has from a moment on. */
export interface Published extends Shown {
  readonly at: number;
  /** The account for which the registrant wrote these names; undefined: for none, or a predecessor wrote them. */
  readonly meant: number | undefined;
}

interface Lie extends Span {
  readonly server: number;
  readonly shown: Shown;
}

export const ABSENT: Shown = { kind: 'nxdomain', ns: [], hasDs: false };
/** Of questions that are asked twice. */
const LOSS = 0.005;
const TIMEOUT = 3000;

export class SimulatedRegistry {
  readonly history: Published[] = [];
  /** Moments at which some server begins to say something else. */
  readonly moments: number[] = [];
  private readonly random: Random;
  private readonly servers: readonly {
    readonly name: Name;
    readonly address: string;
    readonly lag: number;
  }[];
  private readonly silent: readonly (Span & { readonly server: number })[];
  private readonly falsehoods: readonly Lie[];
  private readonly offline: readonly Span[];

  /** `lie` gives what a lying server says: it may be a stranger's. */
  constructor(random: Random, before: Shown, lie: () => Shown) {
    this.random = random;
    const count = pick(random, [1, 2, 2, 3, 4, 6]);
    const maxLag = pick(random, [0, 0, MINUTE, 10 * MINUTE]);
    this.servers = Array.from({ length: count }, (_, i) => ({
      name: parseName(`s${i + 1}.tld.`),
      address: `192.0.2.${i + 1}`,
      lag: random() * maxLag,
    }));
    const span = (longest: number): Span => {
      const from = random() * END;
      return { from, to: from + HOUR + random() * longest };
    };
    const server = () => Math.floor(random() * count);
    this.silent = Array.from({ length: 3 }, () => ({ ...span(5 * DAY), server: server() }));
    this.falsehoods =
      count === 1
        ? []
        : Array.from({ length: 4 }, () => ({ ...span(5 * DAY), server: server(), shown: lie() }));
    this.offline = [span(12 * HOUR)];
    for (const { from, to } of [...this.silent, ...this.falsehoods, ...this.offline])
      this.moments.push(from, to);
    this.publish({ ...before, at: Number.NEGATIVE_INFINITY, meant: undefined });
  }

  publish(published: Published): void {
    this.history.push(published);
  }

  get maxLag(): number {
    return Math.max(...this.servers.map(({ lag }) => lag));
  }

  get lags(): readonly number[] {
    return this.servers.map(({ lag }) => lag);
  }

  get newest(): Published {
    return this.history.at(-1) as Published;
  }

  /** What the servers that do not lie have now, whether or not they are heard. */
  truly(at: number): readonly Published[] {
    return this.servers.map(({ lag }) => this.publishedAt(at - lag));
  }

  /** Some server lies or is silent, or our network is down. */
  isTroubled(from: number, to: number): boolean {
    return [...this.silent, ...this.falsehoods, ...this.offline].some(
      (span) => span.from <= to && span.to >= from,
    );
  }

  lies(address: string, at: number): boolean {
    return this.falsehoods.some(
      (lie) => at >= lie.from && at < lie.to && this.servers[lie.server]?.address === address,
    );
  }

  /** Since when the registry has the same names: who writes them again changes nothing. */
  get unchangedSince(): number {
    const same = this.newest.ns.join();
    const other = this.history.findLastIndex(({ ns }) => ns.join() !== same);
    return (this.history[other + 1] ?? this.newest).at;
  }

  /** When the newest publication is at every server. */
  get everywhereAt(): number {
    return this.newest.at + this.maxLag;
  }

  private publishedAt(at: number): Published {
    return this.history.findLast((published) => published.at <= at) ?? (this.history[0] as Published);
  }

  /** Two addresses first, then all up to six, unless the two agree (docs/rules.md "Delegation check"). */
  observe(at: number, isThorough: boolean): Evidence {
    const { random, servers } = this;
    const order = servers.map((_, i) => i);
    for (let i = order.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      [order[i], order[j]] = [order[j] as number, order[i] as number];
    }
    const heard = order.slice(0, 2).map((s) => this.ask(s, at));
    if (isThorough || !agree(heard)) heard.push(...order.slice(2, 6).map((s) => this.ask(s, at)));
    const tookMs = heard.some(({ outcome }) => outcome === 'timeout') ? 2 * TIMEOUT : 150;
    return {
      domain: DOMAIN,
      parent: PARENT,
      walk: [],
      servers: heard,
      parentAddresses: servers.length,
      failure: undefined,
      queries: heard.length,
      startedAt: at,
      finishedAt: at + tookMs,
    };
  }

  private ask(s: number, at: number): ServerEvidence {
    const { name, address, lag } = this.servers[s] as (typeof this.servers)[number];
    const isSilent =
      this.random() < LOSS ||
      isWithinAny(this.offline, at) ||
      isWithinAny(
        this.silent.filter(({ server }) => server === s),
        at,
      );
    const lie = this.falsehoods.find(({ server, from, to }) => server === s && at >= from && at < to);
    const shown: Shown = lie?.shown ?? this.publishedAt(at - lag);
    const outcome: ServerOutcome = isSilent
      ? 'timeout'
      : shown.kind === 'delegation'
        ? 'referral'
        : shown.kind;
    return {
      server: name,
      address,
      transport: 'udp',
      askedAt: at,
      rttMs: isSilent ? undefined : 20,
      outcome,
      rcode: undefined,
      aa: undefined,
      ns: isSilent ? [] : shown.ns,
      ttl: undefined,
      ds: shown.hasDs && !isSilent ? [DS] : [],
      error: undefined,
    };
  }
}

const DS = Uint8Array.of(1, 2, 13, 2, 9);

function agree(heard: readonly ServerEvidence[]): boolean {
  const [first] = heard;
  return heard.every(
    ({ outcome, ns }) =>
      first !== undefined &&
      outcome !== 'timeout' &&
      outcome === first.outcome &&
      ns.join() === first.ns.join(),
  );
}
