// Performs one scan: queries one name after the other, separates real names from those that a wildcard generates, and keeps
// the records. `ScanServers` sends its queries, and `ScanLeads` provides its names.

import type { ScannedRecord } from '../../checks/scan/scan.ts';
import {
  encodeName,
  isWildcard,
  isWithin,
  labelsOf,
  type Name,
  parentOf,
  wildcardBelow,
} from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { namesIn } from '../replies/classify-reply.ts';
import { glueSets } from '../replies/glue-sets.ts';
import type { ScanReply } from '../replies/read-scan-reply.ts';
import { ScannedRecords, type ScannedSet } from '../replies/scanned-records.ts';
import type { QueuedName } from './name-queue.ts';
import { ScanLeads } from './scan-leads.ts';
import type { ScanServers } from './scan-servers.ts';
import { isContainer, type Wanted, wantedAt } from './scan-services.ts';
import { Wildcards } from './scan-wildcards.ts';

const NAMES_AT_ONCE = 64;

const APEX: Wanted = {
  first: TYPE.A,
  further: [TYPE.AAAA, TYPE.MX, TYPE.TXT, TYPE.CAA, TYPE.HTTPS, TYPE.NS, TYPE.NAPTR, TYPE.SSHFP],
};
const WILDCARD: Wanted = {
  first: TYPE.A,
  further: [TYPE.AAAA, TYPE.MX, TYPE.TXT, TYPE.CAA, TYPE.HTTPS, TYPE.SRV],
};

interface TypedReply {
  readonly type: number;
  readonly reply: ScanReply;
}

interface ZoneScanOptions {
  readonly words: readonly string[];
  readonly random: () => number;
  readonly onProgress: (progress: { names: number; of: number; records: number }) => void;
}

export class ZoneScan {
  readonly #domain: Name;
  readonly #servers: ScanServers;
  readonly #onProgress: ZoneScanOptions['onProgress'];
  readonly #wildcards: Wildcards;
  readonly #leads: ScanLeads;
  readonly #records: ScannedRecords;
  readonly #withWildcard = new Set<Name>();
  /** Names at which the zone's own servers may serve another zone. */
  readonly #held = new Map<Name, Promise<void>>();
  /** Names that a wildcard appears to generate, below which another wildcard is searched. */
  readonly #homes = new Set<Name>();
  #done = 0;

  constructor(domain: Name, servers: ScanServers, { words, random, onProgress }: ZoneScanOptions) {
    this.#domain = domain;
    this.#servers = servers;
    this.#onProgress = onProgress;
    this.#wildcards = new Wildcards((name, type) => servers.ask(name, type), random);
    this.#leads = new ScanLeads(domain, words);
    this.#records = new ScannedRecords(domain);
  }

  /** Throws Stopped. The records found until then are kept. */
  async run(): Promise<void> {
    const [first] = await Promise.all([this.#visitApex(), this.#wildcards.at(this.#domain)]);
    // RFC 8020 §2. If no server answers the first queries, further ones would fail too.
    if (first.kind === 'nxdomain' || this.#servers.answers === 0) return;
    const wildcard = wildcardBelow(this.#domain);
    if (wildcard !== undefined) this.#leads.queue.add('learned', wildcard, true);
    this.#leads.listNames();
    await this.#visitAll();
  }

  results(): {
    records: ScannedRecord[];
    recordsLeft: number;
    wildcards: Name[];
    names: number;
    namesLeft: number;
    hasMoreNames: boolean;
  } {
    return {
      records: this.#records.list(),
      recordsLeft: this.#records.left,
      wildcards: [...this.#withWildcard],
      names: this.#done,
      namesLeft: this.#leads.queue.size - this.#done,
      hasMoreNames: this.#leads.queue.isOverfull,
    };
  }

  async #visitApex(): Promise<ScanReply> {
    const types = [APEX.first, ...APEX.further];
    const replies = await this.#askFor(this.#domain, types);
    if (await this.#endsHere(this.#domain, replies)) return UNANSWERED;
    this.#keep(this.#domain, replies);
    return (replies[0] as TypedReply).reply;
  }

  async #visitAll(): Promise<void> {
    const running = new Set<Promise<void>>();
    const faults: unknown[] = [];
    for (;;) {
      while (running.size < NAMES_AT_ONCE && faults.length === 0) {
        const next = this.#leads.queue.next();
        if (next === undefined) break;
        const visit = this.#visit(next)
          .then(() => this.#report())
          .catch((fault) => void faults.push(fault))
          .finally(() => running.delete(visit));
        running.add(visit);
      }
      if (running.size === 0) break;
      await Promise.race(running);
    }
    if (faults.length > 0) throw faults[0];
  }

  #report(): void {
    this.#done++;
    this.#onProgress({ names: this.#done, of: this.#leads.queue.size, records: this.#records.count });
  }

  async #visit({ name, isSure }: QueuedName): Promise<void> {
    if (this.#records.isCutOff(name)) return;
    const wanted = this.#wantedAt(name);
    const [first] = await this.#askFor(name, [wanted.first]);
    if (first === undefined || first.reply.kind === 'unanswered' || first.reply.kind === 'nxdomain') return;
    if (await this.#endsHere(name, [first])) return;
    const isMade = await this.#isMade(name, first);
    const label = labelsOf(name)[0] as string;
    if (isContainer(label) && !(isMade && (await this.#isSurelyMade(name, first)))) {
      this.#leads.openContainer(name);
    }
    if (isMade && this.#leads.addWildcardBelow(name)) this.#homes.add(name);
    if (first.reply.kind === 'alias') return isMade ? undefined : this.#keep(name, [first]);
    if (isMade && !isSure) return;
    const further = await this.#askFor(name, this.#furtherTypes(wanted));
    if (await this.#endsHere(name, further)) return;
    const made =
      isMade && (await Promise.all(further.map((each) => this.#isMade(name, each)))).every(Boolean);
    if (!made) this.#keep(name, [first, ...further]);
  }

  #wantedAt(name: Name): Wanted {
    const { isReverse } = this.#leads;
    return isWildcard(name) && !isReverse ? WILDCARD : wantedAt(name, { isReverse });
  }

  /** A resolver does not show where a delegation is, but answers NS queries. */
  #furtherTypes({ further }: Wanted): readonly number[] {
    return this.#servers.areSilent ? [...further, TYPE.NS] : further;
  }

  async #askFor(name: Name, types: readonly number[]): Promise<TypedReply[]> {
    const replies = await Promise.all(
      types.map(async (type) => ({ type, reply: await this.#servers.ask(name, type) })),
    );
    for (const { reply } of replies) if ('neighbours' in reply) this.#leads.learnNeighbours(reply.neighbours);
    return replies;
  }

  /** True if a wildcard generates the name. Never true for the wildcard's own name. */
  async #isMade(name: Name, { type, reply }: TypedReply): Promise<boolean> {
    const above = parentOf(name);
    if (isWildcard(name) && !this.#homes.has(above)) return false;
    if (reply.kind === 'unanswered') return true;
    if (!isWildcard(name)) return (await this.#wildcards.at(above)).makes(name, type, reply);
    // The wildcard exists if random names one level up have other answers, and random siblings have the same one.
    const makes = async (at: Name) => (await this.#wildcards.at(at)).makes(name, type, reply);
    return (await makes(parentOf(above))) || !(await makes(above));
  }

  /** Missing TXT records prove little. If the name has the same address as the wildcard, the name is not real. */
  async #isSurelyMade(name: Name, { reply }: TypedReply): Promise<boolean> {
    if (reply.kind !== 'nodata') return true;
    const [asked] = await this.#askFor(name, [TYPE.A]);
    return asked?.reply.kind === 'records' && this.#isMade(name, asked);
  }

  /** True if the zone ends at or above the name. Keeps the delegation or DNAME that ends it. */
  async #endsHere(name: Name, replies: readonly TypedReply[]): Promise<boolean> {
    for (const { type, reply } of replies) {
      if (reply.kind === 'referral') this.#cutOff(reply);
      else if (reply.kind === 'dname') {
        this.#records.endBelow(reply.owner, { ttl: reply.ttl, rdata: [reply.rdata] });
      } else if ('soa' in reply && reply.soa !== undefined) await this.#lookForHeld(reply.soa);
      else if (reply.kind === 'records' && type === TYPE.NS) await this.#lookForHeld(name);
    }
    return this.#records.isCutOff(name);
  }

  #cutOff({ cut, ns, ttl, ds, glue }: Extract<ScanReply, { kind: 'referral' }>): void {
    if (cut === this.#domain || !isWithin(cut, this.#domain)) return;
    const sets: ScannedSet[] = [{ name: cut, type: TYPE.NS, ttl, rdata: ns.map(encodeName) }];
    if (ds.length > 0) sets.push({ name: cut, type: TYPE.DS, ttl, rdata: ds });
    sets.push(...glueSets(cut, ns, glue));
    this.#records.cutOff(cut, sets);
    this.#leads.follow(cut, sets.slice(0, 1));
  }

  /** If the same servers serve the zone below and do not refer, that zone's NS records are at its apex. */
  #lookForHeld(apex: Name): Promise<void> {
    if (apex === this.#domain || !isWithin(apex, this.#domain)) return Promise.resolve();
    const known = this.#held.get(apex);
    if (known !== undefined) return known;
    const looked = this.#cutOffHeld(apex);
    this.#held.set(apex, looked);
    return looked;
  }

  async #cutOffHeld(cut: Name): Promise<void> {
    const reply = await this.#servers.ask(cut, TYPE.NS);
    if (reply.kind === 'referral') return this.#cutOff(reply);
    if (reply.kind !== 'records') return;
    const ns = namesIn(reply.rdata);
    const sets: ScannedSet[] = [{ name: cut, type: TYPE.NS, ttl: reply.ttl, rdata: ns.map(encodeName) }];
    for (const host of ns.filter((each) => isWithin(each, cut))) {
      for (const { type, reply: address } of await this.#askFor(host, [TYPE.A, TYPE.AAAA])) {
        if (address.kind !== 'records') continue;
        sets.push({ name: host, type, ttl: address.ttl, rdata: address.rdata });
      }
    }
    this.#records.cutOff(cut, sets);
    this.#leads.follow(cut, sets.slice(0, 1));
  }

  #keep(name: Name, replies: readonly TypedReply[]): void {
    const sets: ScannedSet[] = [];
    for (const { type, reply } of replies) {
      if (reply.kind === 'records') sets.push({ name, type, ttl: reply.ttl, rdata: reply.rdata });
      if (reply.kind === 'alias' && !sets.some((set) => set.type === TYPE.CNAME)) {
        sets.push({ name, type: TYPE.CNAME, ttl: reply.ttl, rdata: [encodeName(reply.target)] });
      }
    }
    for (const set of sets) this.#records.add(name, set.type, set.ttl, set.rdata);
    if (isWildcard(name) && sets.length > 0) this.#withWildcard.add(parentOf(name));
    if (!this.#records.isCutOff(name)) this.#leads.follow(name, sets);
  }
}

const UNANSWERED: ScanReply = { kind: 'unanswered' };
