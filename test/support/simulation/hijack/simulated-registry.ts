// The parent of one simulated name for a thousand days: the registrants' publications, servers that lag, are silent or lie,
// and the answers that a check receives.

import type { Evidence, ServerEvidence } from '../../../../src/checks/delegation/evidence.ts';
import { type Name, parseName } from '../../../../src/dns/name.ts';
import { pick, type Random } from '../../random/random-zones.ts';
import { observeParent, type Shown, serverEvidence } from '../parent-evidence.ts';
import { DAY, HOUR, isWithin, MINUTE, overlaps, type Span } from '../virtual-time.ts';

export const END = 1000 * DAY;
const DOMAIN = parseName('shop.tld.');
const PARENT = parseName('tld.');

/** The registry's data from a given time on. */
export interface Published extends Shown {
  readonly at: number;
  /** The account for which the registrant wrote these names. Undefined if there is none, or if a predecessor wrote them. */
  readonly meant: number | undefined;
}

interface Lie extends Span {
  readonly server: number;
  readonly shown: Shown;
}

/** Duration of queries that are repeated. */
const LOSS = 0.005;

export class SimulatedRegistry {
  readonly history: Published[] = [];
  /** Times at which some server starts to answer differently. */
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

  /** `lie` returns the answer of a lying server, which may be an attacker's. */
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

  /** Current data of the honest servers, whether or not they answer. */
  truly(at: number): readonly Published[] {
    return this.servers.map(({ lag }) => this.publishedAt(at - lag));
  }

  /** True if some server lies or is silent, or our network is down. */
  isTroubled(from: number, to: number): boolean {
    return overlaps([...this.silent, ...this.falsehoods, ...this.offline], from, to);
  }

  isLiedAbout(from: number, to: number): boolean {
    return overlaps(this.falsehoods, from, to);
  }

  lies(address: string, at: number): boolean {
    return this.falsehoods.some(
      (lie) => at >= lie.from && at < lie.to && this.servers[lie.server]?.address === address,
    );
  }

  /** Since when the registry has had the same names. Writing them again changes nothing. */
  get unchangedSince(): number {
    const same = this.newest.ns.join();
    const other = this.history.findLastIndex(({ ns }) => ns.join() !== same);
    return (this.history[other + 1] ?? this.newest).at;
  }

  /** When the newest publication is on every server. */
  get everywhereAt(): number {
    return this.newest.at + this.maxLag;
  }

  private publishedAt(at: number): Published {
    return this.history.findLast((published) => published.at <= at) ?? (this.history[0] as Published);
  }

  observe(at: number, isThorough: boolean): Evidence {
    const parent = { domain: DOMAIN, zone: PARENT, count: this.servers.length };
    return observeParent(this.random, parent, at, (s) => this.ask(s, at), isThorough);
  }

  private ask(s: number, at: number): ServerEvidence {
    const server = this.servers[s] as (typeof this.servers)[number];
    const ofServer = (spans: readonly (Span & { readonly server: number })[]) =>
      spans.filter((span) => span.server === s);
    const isSilent = this.random() < LOSS || isWithin([...this.offline, ...ofServer(this.silent)], at);
    const lie = ofServer(this.falsehoods).find((span) => isWithin([span], at)) as Lie | undefined;
    const shown = lie?.shown ?? this.publishedAt(at - server.lag);
    return serverEvidence(server, isSilent ? 'timeout' : shown, at);
  }
}
