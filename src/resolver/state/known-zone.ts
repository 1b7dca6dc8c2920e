// A zone's nameservers, their addresses, and how each address answered queries for this zone. Glue of a delegation is used
// only to reach that zone.

import type { WalkedZone } from '../../checks/delegation/evidence.ts';
import type { Name } from '../../dns/name.ts';

export interface ZoneAddress {
  readonly server: Name;
  readonly address: string;
  readonly isIpv6: boolean;
  /** Smoothed round-trip time. Undefined until the address has answered. */
  rttMs: number | undefined;
  /** Number of consecutive useless replies and timeouts. */
  misses: number;
  /** Other addresses are preferred until this time. */
  shunnedUntil: number;
}

export type AddressOutcome =
  | { readonly kind: 'found'; readonly addresses: readonly string[] }
  /** The zone of the nameserver's name answered that it has no address. */
  | { readonly kind: 'none' }
  | { readonly kind: 'failed'; readonly reason: 'unreachable' | 'loop' | 'limit'; readonly message: string };

interface Server {
  readonly name: Name;
  addresses: readonly ZoneAddress[];
  /** `unknown`: the addresses were not looked up, or the lookup has expired. */
  state: 'known' | 'none' | 'failed' | 'unknown';
  /** When looked-up addresses expire. Glue lives as long as its delegation. */
  until: number;
}

interface ServerAddress {
  readonly name: Name;
  readonly address: string;
}

export interface ZoneServers {
  readonly names: readonly Name[];
  readonly glue: readonly ServerAddress[];
  /** A server known to serve the zone, used if there is no other way to reach it. */
  readonly spare?: ServerAddress;
}

const SHUN_FIRST_MS = 1000;
const SHUN_MAX_MS = 300_000;
/** While one query tests if an address answers again, other queries use other addresses. */
const PROBE_MS = 10_000;

export class KnownZone {
  readonly zone: Name;
  /** The zone in the format of the evidence, for walks that needed no query. */
  readonly walked: WalkedZone;
  /** When the zone became known, in milliseconds since 1970. */
  readonly knownSince: number;
  readonly #isAskable: (address: string) => boolean;
  readonly #addressesPerName: number;
  readonly #servers: Server[];
  #addresses: readonly ZoneAddress[] = [];
  #ipv4Addresses: readonly ZoneAddress[] = [];
  /** When the first looked-up address expires. */
  #freshUntil = Number.POSITIVE_INFINITY;

  constructor(
    zone: Name,
    { names, glue, spare }: ZoneServers,
    options: {
      isAskable: (address: string) => boolean;
      namesPerZone: number;
      addressesPerName: number;
      now: number;
    },
  ) {
    this.knownSince = options.now;
    this.zone = zone;
    this.walked = { zone, servers: names, cached: true };
    this.#isAskable = options.isAskable;
    this.#addressesPerName = options.addressesPerName;
    this.#servers = names.slice(0, options.namesPerZone).map((name) => this.#serverOf(name, glue));
    if (spare !== undefined && this.#servers.every(({ state }) => state !== 'known')) {
      this.#servers.push(this.#serverOf(spare.name, [spare]));
    }
    this.#collect();
  }

  #serverOf(name: Name, glue: readonly ServerAddress[]): Server {
    const own = glue.filter((record) => record.name === name).map(({ address }) => address);
    const addresses = this.#usable(name, own);
    // A server whose glue may not be queried counts as having no address: a lookup would return the same.
    const state = addresses.length > 0 ? 'known' : own.length > 0 ? 'none' : 'unknown';
    return { name, addresses, state, until: Number.POSITIVE_INFINITY };
  }

  /** Returns the known addresses of nameservers with these names. */
  addressesOf(names: readonly Name[]): ServerAddress[] {
    return this.#servers
      .filter(({ name, state }) => state === 'known' && names.includes(name))
      .flatMap(({ name, addresses }) => addresses.map(({ address }) => ({ name, address })));
  }

  /** Returns the addresses that may be queried, without duplicates even if several names share one. */
  addresses(now: number, hasIpv6: boolean): readonly ZoneAddress[] {
    if (now >= this.#freshUntil) this.#forgetOld(now);
    return hasIpv6 ? this.#addresses : this.#ipv4Addresses;
  }

  /** Returns nameservers whose addresses must be looked up first. */
  unresolved(now: number, hasIpv6: boolean): readonly Name[] {
    if (now >= this.#freshUntil) this.#forgetOld(now);
    return this.#servers.filter((server) => isUnresolved(server, hasIpv6)).map(({ name }) => name);
  }

  /** Returns the number of addresses of the zone. A nameserver without known addresses counts as one. */
  addressCount(now: number, hasIpv6: boolean): number {
    const known = this.addresses(now, hasIpv6).length;
    return this.#servers.reduce((count, server) => {
      return isUnresolved(server, hasIpv6) || server.state === 'failed' ? count + 1 : count;
    }, known);
  }

  /** Records the outcome of a lookup. */
  resolve(name: Name, outcome: AddressOutcome, until: number): void {
    const server = this.#servers.find((each) => each.name === name);
    if (server === undefined) return;
    if (outcome.kind === 'failed' && server.state === 'known') return; // keep its glue of the other family
    server.until = until;
    if (outcome.kind === 'failed') {
      server.state = 'failed';
    } else {
      const found = this.#usable(name, outcome.kind === 'found' ? outcome.addresses : []);
      const before = new Map(server.addresses.map((each) => [each.address, each]));
      server.addresses = found.map((each) => before.get(each.address) ?? each);
      server.state = found.length > 0 ? 'known' : 'none';
    }
    this.#collect();
  }

  /** Copies what is known about the addresses that the zone had before its delegation was queried again. */
  inherit(before: KnownZone): void {
    const known = new Map(
      before.#servers.flatMap(({ addresses }) => addresses.map((each) => [each.address, each])),
    );
    for (const server of this.#servers) {
      for (const each of server.addresses) {
        const { rttMs, misses, shunnedUntil } = known.get(each.address) ?? each;
        Object.assign(each, { rttMs, misses, shunnedUntil });
      }
    }
  }

  #usable(server: Name, addresses: readonly string[]): ZoneAddress[] {
    return [...new Set(addresses)]
      .filter(this.#isAskable)
      .slice(0, this.#addressesPerName)
      .map((address) => ({
        server,
        address,
        isIpv6: address.includes(':'),
        rttMs: undefined,
        misses: 0,
        shunnedUntil: 0,
      }));
  }

  #forgetOld(now: number): void {
    for (const server of this.#servers) {
      if (server.until > now) continue;
      server.state = 'unknown'; // keep the addresses and their statistics
      server.until = Number.POSITIVE_INFINITY;
    }
    this.#collect();
  }

  #collect(): void {
    const byAddress = new Map<string, ZoneAddress>();
    for (const { state, addresses } of this.#servers) {
      if (state !== 'known') continue;
      for (const each of addresses) if (!byAddress.has(each.address)) byAddress.set(each.address, each);
    }
    this.#addresses = [...byAddress.values()];
    this.#ipv4Addresses = this.#addresses.filter(({ isIpv6 }) => !isIpv6);
    this.#freshUntil = Math.min(...this.#servers.map(({ until }) => until), Number.POSITIVE_INFINITY);
  }
}

/** True if there is only glue of the other family: the nameserver may have an address that can be queried. */
function isUnresolved({ state, addresses }: Server, hasIpv6: boolean): boolean {
  return state === 'unknown' || (state === 'known' && !hasIpv6 && addresses.every(({ isIpv6 }) => isIpv6));
}

export function noteUse(address: ZoneAddress, now: number): void {
  if (address.misses > 0) address.shunnedUntil = now + PROBE_MS;
}

export function noteReply(address: ZoneAddress, rttMs: number): void {
  address.rttMs = address.rttMs === undefined ? rttMs : 0.7 * address.rttMs + 0.3 * rttMs;
  address.misses = 0;
  address.shunnedUntil = 0;
}

/** RFC 9520 §3.2: a failing address is avoided for at least a second and at most five minutes, longer each time. */
export function noteMiss(address: ZoneAddress, now: number): void {
  address.shunnedUntil = now + Math.min(SHUN_MAX_MS, SHUN_FIRST_MS * 2 ** address.misses);
  address.misses++;
}
