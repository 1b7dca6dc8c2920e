// Observes a delegated zone: the addresses of its nameservers, from the parent's glue and from their own zones, and what
// each address answers. Queries for which no packet is left are skipped and reported.
//
//   delegation ─▶ addresses ─▶ SOA and NS at each ─▶ names that only the zone has: the same ─▶ glue compared ─▶ TCP

import type {
  AddressProbe,
  ChildEvidence,
  ChildServer,
  FoundAddresses,
} from '../../checks/child/evidence.ts';
import { foldCase, isWithin, type Name, ROOT } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { isAskable } from '../state/address-rules.ts';
import { type KnownZone, noteMiss } from '../state/known-zone.ts';
import type { Limits } from '../state/limits.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { runWork } from '../state/run-work.ts';
import { Stopped } from '../state/work.ts';
import { findAddresses } from '../walk/find-addresses.ts';
import { type Delegation, findDelegation } from './find-delegation.ts';
import { lookUpServer } from './look-up-server.ts';
import type { OwnProbes } from './own-probes.ts';
import { type Asking, probe, probeSoa, UNASKED } from './probe-address.ts';

const CHILD_LIMITS: Partial<Limits> = { packets: 40, milliseconds: 20_000 };
/** Maximum number of nameservers and addresses. Packets are limited as well. */
const MAX_SERVERS = 13;
const MAX_ADDRESSES = 8;

export interface ChildOptions {
  /** A delegation to test before it is made. The parent is not queried then. */
  readonly given?: Delegation | undefined;
  /** Our own nameservers. The names of one list have the same addresses. */
  readonly own?: readonly (readonly Name[])[];
  readonly signal?: AbortSignal | undefined;
}

/** Rejects with the signal's reason when that aborts. */
export async function observeChild(
  state: ResolverState,
  ownProbes: OwnProbes,
  name: Name,
  { given, own = [], signal }: ChildOptions = {},
): Promise<ChildEvidence> {
  const domain = foldCase(name);
  if (domain === ROOT) throw new RangeError('the root has no parent');
  const { now, hasIpv6, limits: all } = state.around;
  const startedAt = now();
  const limits = { ...all, ...CHILD_LIMITS };
  return runWork(state, { limits, signal }, async (work) => {
    const observation = new ChildObservation({ state, work, domain }, ownProbes, own);
    const failure = await observation.run(given);
    return {
      domain,
      parent: observation.parent,
      ...observation.seen(),
      failure,
      isComplete: work.stopped === undefined && observation.isWhole,
      hasIpv6: hasIpv6(),
      queries: work.packets,
      startedAt,
      finishedAt: now(),
    };
  });
}

interface SeenServer {
  readonly name: Name;
  readonly isAtParent: boolean;
  readonly glue: readonly string[];
  found: FoundAddresses;
}

const NOT_LOOKED: FoundAddresses = { kind: 'unknown', message: 'it was not looked up' };

class ChildObservation {
  parent: Name | undefined;
  /** True if no server or address was left out. */
  isWhole = true;
  readonly #asking: Asking;
  readonly #ownProbes: OwnProbes;
  readonly #own: readonly (readonly Name[])[];
  readonly #servers = new Map<Name, SeenServer>();
  readonly #inZone = new Set<Name>();
  readonly #probes = new Map<string, AddressProbe>();
  #zone: KnownZone | undefined;

  constructor(asking: Asking, ownProbes: OwnProbes, own: readonly (readonly Name[])[]) {
    this.#asking = asking;
    this.#ownProbes = ownProbes;
    this.#own = own.map((list) => list.map(foldCase));
  }

  /** Returns why there is no delegation. */
  async run(given: Delegation | undefined): Promise<string | undefined> {
    const found = await this.#findDelegation(given);
    if (typeof found === 'string') return found;
    const { state, domain } = this.#asking;
    const names = found.ns.map(foldCase).slice(0, MAX_SERVERS);
    if (names.length < found.ns.length) this.isWhole = false;
    for (const name of names) {
      const glue = found.glue.filter((each) => foldCase(each.name) === name).map(({ address }) => address);
      this.#servers.set(name, { name, isAtParent: true, glue, found: NOT_LOOKED });
    }
    this.#zone = state.knownZone(domain, { names, glue: found.glue });
    // Glue leads to the zone. Without glue, look up the name first. Names inside the zone follow later.
    await this.#lookUp(
      [...this.#servers.values()].filter(({ name, glue }) => glue.length === 0 && !isWithin(name, domain)),
    );
    await this.#probeNew();
    await this.#addNamesOfZone();
    // Names inside the zone can be looked up only if one of its servers answers.
    const answers = [...this.#probes.values()].some(({ soa }) => soa.outcome === 'answer');
    const left = [...this.#servers.values()].filter(
      ({ name, found }) => found === NOT_LOOKED && (answers || !isWithin(name, domain)),
    );
    await this.#lookUp(left);
    await this.#probeNew();
    await this.#probeTcp();
    return undefined;
  }

  seen(): Pick<ChildEvidence, 'servers' | 'addresses'> {
    const servers = [...this.#servers.values()].map(
      (server): ChildServer => ({ ...server, isInZone: this.#inZone.has(server.name) }),
    );
    return { servers, addresses: [...this.#probes.values()] };
  }

  async #findDelegation(given: Delegation | undefined): Promise<Delegation | string> {
    if (given !== undefined) return given;
    const { state, domain, work } = this.#asking;
    try {
      const result = await findDelegation(state, domain, work);
      if (result.kind === 'failed') return result.message;
      this.parent = result.parent;
      return result.delegation;
    } catch (error) {
      if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
      return error.message;
    }
  }

  /** Looks up several servers concurrently. All share the same packet limit. */
  async #lookUp(servers: readonly SeenServer[]): Promise<void> {
    await Promise.all(
      servers.map(async (server) => {
        const { name } = server;
        const zone = this.#zone as KnownZone;
        server.found = this.#listOf(name)
          ? await this.#lookUpOwn(name)
          : await lookUpServer(this.#asking, zone, name);
      }),
    );
  }

  /** Our servers are the same for all domains, so their addresses come from the cache. */
  async #lookUpOwn(name: Name): Promise<FoundAddresses> {
    const { state, work } = this.#asking;
    try {
      const { outcome } = await findAddresses(state, name, { work, within: undefined });
      return outcome.kind === 'failed' ? { kind: 'unknown', message: outcome.message } : outcome;
    } catch (error) {
      if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
      return { kind: 'unknown', message: error.message };
    }
  }

  #listOf(name: Name): readonly Name[] | undefined {
    return this.#own.find((list) => list.includes(name));
  }

  /** Queries SOA and NS at every address not queried yet. */
  async #probeNew(): Promise<void> {
    await Promise.all(this.#newAddresses().map(([address, servers]) => this.#probe(address, servers)));
  }

  /**
   * Returns addresses with their names: those of one own server per list, and each server's first address before any second
   * one.
   */
  #newAddresses(): [string, Name[]][] {
    const wanted = new Map<string, Name[]>();
    const lists = new Set<readonly Name[]>();
    const each = [...this.#servers.values()].map((server) => ({ server, addresses: addressesOf(server) }));
    const most = Math.max(0, ...each.map(({ addresses }) => addresses.length));
    for (let i = 0; i < most; i++) {
      for (const { server, addresses } of each) {
        const address = addresses[i];
        if (address === undefined || !this.#mayAsk(address)) continue;
        const list = this.#listOf(server.name);
        if (list !== undefined && (lists.has(list) || this.#hasProbeOf(list))) continue;
        const sharing = wanted.get(address);
        if (sharing !== undefined) sharing.push(server.name);
        else wanted.set(address, [server.name]);
        if (list !== undefined) lists.add(list);
      }
    }
    const fresh = [...wanted].filter(([address]) => !this.#probes.has(address));
    const room = Math.max(0, MAX_ADDRESSES - this.#probes.size);
    if (fresh.length > room) this.isWhole = false;
    return fresh.slice(0, room);
  }

  /** Skips addresses of a family that this machine does not have. That says nothing about the server. */
  #mayAsk(address: string): boolean {
    return !address.includes(':') || this.#asking.state.around.hasIpv6();
  }

  #hasProbeOf(list: readonly Name[]): boolean {
    return [...this.#probes.values()].some(({ servers }) => servers.some((name) => list.includes(name)));
  }

  async #probe(address: string, servers: readonly Name[]): Promise<void> {
    const asking = this.#asking;
    const isPrivate = !isAskable(address, asking.state.around.allowed);
    const nothing = { address, servers, isPrivate, soa: UNASKED, ns: UNASKED, tcp: UNASKED } as const;
    this.#probes.set(address, { ...nothing, edns: 'unknown' });
    if (isPrivate) return;
    const { soa, edns } = await probeSoa(asking, address);
    this.#remember(address, soa.outcome === 'answer');
    const isThere = soa.outcome !== 'timeout' && soa.outcome !== 'unasked' && edns !== 'silent';
    const ns = isThere ? await probe(asking, address, TYPE.NS) : UNASKED;
    this.#probes.set(address, { ...nothing, soa, ns, edns });
  }

  /** Names inside the zone are queried at servers that answer. */
  #remember(address: string, answers: boolean): void {
    const { now, hasIpv6 } = this.#asking.state.around;
    const to = this.#zone?.addresses(now(), hasIpv6()).find((each) => each.address === address);
    if (to !== undefined && !answers) noteMiss(to, now());
  }

  async #addNamesOfZone(): Promise<void> {
    for (const { ns } of this.#probes.values()) for (const name of ns.ns ?? []) this.#inZone.add(name);
    const others = [...this.#inZone].filter((name) => !this.#servers.has(name));
    const room = Math.max(0, MAX_SERVERS - this.#servers.size);
    if (others.length > room) this.isWhole = false;
    for (const name of others.slice(0, room)) {
      this.#servers.set(name, { name, isAtParent: false, glue: [], found: NOT_LOOKED });
    }
  }

  async #probeTcp(): Promise<void> {
    const answering = [...this.#probes.values()].filter(({ soa }) => soa.outcome === 'answer');
    await Promise.all(
      answering.map(async (each) => {
        const isOurs = each.servers.some((name) => this.#listOf(name) !== undefined);
        const seen = isOurs ? await this.#probeOwnTcp(each) : { tcp: await this.#askTcp(each) };
        this.#probes.set(each.address, { ...each, ...seen });
      }),
    );
  }

  async #askTcp({ address, edns }: AddressProbe): Promise<AddressProbe['tcp']> {
    return probe(this.#asking, address, TYPE.SOA, { transport: 'tcp', edns: edns !== 'silent' });
  }

  async #probeOwnTcp(own: AddressProbe): Promise<Partial<AddressProbe>> {
    try {
      const seen = await this.#ownProbes.look(own.address, async () => {
        const { outcome } = await this.#askTcp(own);
        this.#asking.work.check(); // do not cache a result if no packet was left
        return { tcp: outcome === 'timeout' || outcome === 'bad' ? 'unanswered' : 'answer', edns: own.edns };
      });
      return { tcp: { outcome: seen.tcp === 'answer' ? 'answer' : 'timeout' }, edns: seen.edns };
    } catch (error) {
      if (error instanceof Stopped) return {};
      throw error;
    }
  }
}

function addressesOf({ glue, found }: SeenServer): string[] {
  const known = found.kind === 'found' || found.kind === 'alias' ? found.addresses : [];
  return [...new Set([...glue, ...known])];
}
