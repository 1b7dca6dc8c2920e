// A small internet in memory for one challenge: zones with servers of their own, delegated from the root down, in which any
// address may have another version of a zone than its fellows, or replies of its own.

import { type Conduct, ZoneExchange, zone } from '../world/zone-exchange.ts';

export interface Seat {
  readonly server: string;
  readonly address: string;
}

export interface WorldZone {
  /** As all names here, absolute and with the final dot. */
  readonly apex: string;
  readonly seats: readonly Seat[];
  /** Zone-file lines without SOA, NS of the apex, and delegations. */
  readonly lines: string[];
  /** Nameservers that it is said to have and that have no address. */
  readonly homeless: string[];
}

export const ROOT_SERVERS: readonly Seat[] = [
  { server: 'a.root.', address: '198.41.0.4' },
  { server: 'b.root.', address: '170.247.170.2' },
];

export class ChallengeWorld {
  /** The root first. */
  readonly zones: WorldZone[] = [{ apex: '.', seats: ROOT_SERVERS, lines: [], homeless: [] }];
  /** By address: the lines that it has instead. */
  readonly versions = new Map<string, readonly string[]>();
  /** By address of a zone above, then by apex: where it delegates that zone instead. */
  readonly misled = new Map<string, Map<string, WorldZone>>();
  readonly conducts = new Map<string, Conduct>();
  readonly #counterfeits: WorldZone[] = [];
  #addresses = 0;

  /** `addresses`: of each server; more than one are an IPv4 and IPv6 ones. `below`: where their names are. */
  add(apex: string, { servers = 2, addresses = 1, below = apex } = {}): WorldZone {
    const seats = Array.from({ length: servers }, (_, server) =>
      Array.from({ length: addresses }, (_, i) => ({
        server: `ns${server + 1}.${below}`,
        address: this.#nextAddress(i > 0),
      })),
    ).flat();
    const added: WorldZone = { apex, seats, lines: [], homeless: [] };
    this.zones.push(added);
    return added;
  }

  /** An undelegated zone on its own server, to which false answers lead. */
  counterfeit(apex: string, lines: readonly string[]): WorldZone {
    const seat = { server: `ns1.evil.${apex}`, address: this.#nextAddress(false) };
    const made: WorldZone = { apex, seats: [seat], lines: [...lines], homeless: [] };
    this.#counterfeits.push(made);
    return made;
  }

  /** The deepest zone that holds the name; `isAbove`: and is not called so. */
  holding(name: string, isAbove = false): WorldZone {
    const holders = this.zones.filter(({ apex }) => contains(apex, name) && !(isAbove && apex === name));
    return holders.reduce((a, b) => (b.apex.length > a.apex.length ? b : a));
  }

  /** The zones on the way to the name, without the root and the registry. */
  path(name: string): WorldZone[] {
    return this.zones.filter(({ apex }) => contains(apex, name)).slice(2);
  }

  /** It does something else than its fellows. */
  isBent(address: string): boolean {
    return this.versions.has(address) || this.misled.has(address) || this.conducts.has(address);
  }

  exchange(): ZoneExchange {
    const exchange = new ZoneExchange();
    for (const each of [...this.zones, ...this.#counterfeits]) this.#serve(exchange, each);
    for (const [address, conduct] of this.conducts) exchange.behave(address, conduct);
    return exchange;
  }

  #serve(exchange: ZoneExchange, served: WorldZone): void {
    const { apex, seats, lines } = served;
    const same = zone(apex, this.#textOf(served, lines, undefined));
    for (const { address } of seats) {
      const own = this.versions.get(address);
      const misled = this.misled.get(address);
      const isSame = own === undefined && misled === undefined;
      exchange.serve(address, isSame ? same : zone(apex, this.#textOf(served, own ?? lines, misled)));
    }
  }

  #textOf(
    served: WorldZone,
    lines: readonly string[],
    misled: ReadonlyMap<string, WorldZone> | undefined,
  ): string {
    const children = this.zones.filter(
      ({ apex }) => apex !== '.' && apex !== served.apex && this.holding(apex, true).apex === served.apex,
    );
    const delegations = children.map((child) => misled?.get(child.apex) ?? child).flatMap(nsLines);
    const hosted = this.zones
      .flatMap(({ seats }) => seats.map(addressLine))
      .filter((line) => this.holding(ownerOf(line)).apex === served.apex);
    const all = new Set([...nsLines(served), ...delegations, ...hosted, ...lines]);
    return [...all].filter((line) => contains(served.apex, ownerOf(line))).join('\n');
  }

  #nextAddress(isIpv6: boolean): string {
    const n = ++this.#addresses;
    return isIpv6 ? `2a0b:${n.toString(16)}::1` : `5.${n >> 8}.${n & 255}.1`;
  }
}

export function contains(apex: string, name: string): boolean {
  return apex === '.' || name === apex || name.endsWith(`.${apex}`);
}

function ownerOf(line: string): string {
  return line.split(' ')[0] as string;
}

/** NS and glue: they stand in the zone, and in the one that delegates it. */
export function nsLines({ apex, seats, homeless }: WorldZone): string[] {
  return [
    ...seats.map(({ server }) => `${apex} NS ${server}`),
    ...homeless.map((server) => `${apex} NS ${server}`),
    ...seats.map(addressLine),
  ];
}

function addressLine({ server, address }: Seat): string {
  return `${server} ${address.includes(':') ? 'AAAA' : 'A'} ${address}`;
}
