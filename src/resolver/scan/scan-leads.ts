// Sources of a scan's names: the word list, and suggestions from the names that it finds.

import { TextError } from '../../dns/errors.ts';
import {
  foldCase,
  isWildcard,
  isWithin,
  labelCount,
  labelsOf,
  type Name,
  parentOf,
  parseName,
} from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { isOfMail, learnNames, providerHosts } from './learn-names.ts';
import { type Lane, NameQueue } from './name-queue.ts';
import { claimsOf, ScanHints } from './scan-hints.ts';
import { isHome, labelsBeside, namesBelow, namesBesides, reverseDepth, reverseLabels } from './scan-names.ts';
import { COMMON_SELECTORS, companionsOf, selectorsOf, tellingHosts } from './scan-selectors.ts';
import {
  accountNames,
  isContainer,
  isReverseZone,
  SERVICE_NAMES,
  SURE_SERVICES,
  servicesBelow,
} from './scan-services.ts';
import { COMMON_WORDS } from './scan-words.ts';

/** A record set that exists. */
interface ExistingSet {
  readonly type: number;
  readonly rdata: readonly Uint8Array[];
}

/** Maximum depth below the domain at which the scan guesses names. Deeper names are queried only if a record mentions them. */
const MAX_DEPTH = 4;
/** A signed zone may reveal all its names (RFC 4034 §4). This many are used. */
const MAX_NEIGHBOURS = 1000;
/** Maximum number of names followed per record set. */
const MAX_SPOKEN_OF = 256;

export class ScanLeads {
  readonly queue = new NameQueue();
  readonly isReverse: boolean;
  readonly #domain: Name;
  readonly #words: readonly string[];
  /** Names below which a group of hosts, or all typical names of a container, were queued. */
  readonly #opened = new Set<Name>();
  /** Hosts that identify the providers of the domain, and of each name that sends mail. */
  readonly #hosts = new Map<Name, readonly string[]>();
  readonly #hints: ScanHints;
  #isListed = false;
  #neighbours = 0;

  constructor(domain: Name, words: readonly string[]) {
    this.#domain = domain;
    this.#words = words;
    this.isReverse = isReverseZone(domain);
    this.#hints = new ScanHints(domain);
  }

  /** Queues the word list, after the domain's own records have been followed. */
  listNames(): void {
    if (this.isReverse) {
      this.#openReverse(this.#domain);
      return;
    }
    this.#isListed = true;
    const brand = labelsOf(this.#domain)[0] as string;
    this.#addAll('learned', this.#selectors(this.#domain), this.#keysOf(this.#domain));
    this.#addAll('derived', companionsOf(this.#hostsOf(this.#domain)), this.#domain);
    this.#addAll('learned', SURE_SERVICES, this.#domain);
    this.#addAll('listed', [...SERVICE_NAMES, ...accountNames(brand)], this.#domain);
    for (const word of this.#words) this.#add('listed', word, this.#domain, COMMON_WORDS.has(word));
    this.#addAll('hinted', this.#hints.ofDomain(), this.#domain);
    this.#addAll('listed', this.#hints.probes(), this.#domain);
  }

  /** Follows an existing name. If it has no records, there is another name below it. */
  follow(name: Name, sets: readonly ExistingSet[]): void {
    for (const set of sets) this.#learn(name, set);
    if (name === this.#domain || isWildcard(name)) return;
    const label = labelsOf(name)[0] as string;
    if (this.isReverse) {
      if (sets.length === 0) this.#openReverse(name);
      return;
    }
    this.#openAbove(name, label);
    this.#addAll('hinted', this.#hints.of(name), this.#domain);
    const has = (...types: number[]) => sets.some(({ type }) => types.includes(type));
    // a domain with one TLSA record may have the other usual ones
    if (has(TYPE.TLSA)) this.#addAll('derived', ['_443._tcp', '_443._tcp.www', '_25._tcp'], this.#domain);
    if (label === '_dmarc') this.#add('derived', '_report', name); // RFC 7489 §7.1
    if (label === '_report') this.#add('derived', '*', name);
    if (label.startsWith('_')) return;
    this.#addAll('derived', labelsBeside(label), parentOf(name));
    if (this.#depthOf(name) > MAX_DEPTH || this.#isService(name)) return;
    const takesMail = sets.some(({ type, rdata }) => rdata.some((each) => isOfMail(type, each)));
    const known = {
      hasRecords: sets.length > 0,
      hasAddress: has(TYPE.A, TYPE.AAAA, TYPE.CNAME),
      takesMail,
    };
    this.#addAll('derived', namesBelow(label, known), name);
  }

  /**
   * Queues the names that may be below a container, regardless of the answer for `name`: only NXDOMAIN proves that nothing
   * is below a name that contains services or keys.
   */
  openContainer(name: Name): void {
    const label = labelsOf(name)[0] as string;
    if (!isContainer(label) || this.#opened.has(name)) return;
    this.#opened.add(name);
    const above = parentOf(name);
    if (label === '_domainkey') {
      this.#addAll('listed', ['*', ...this.#selectors(above), ...COMMON_SELECTORS], name);
    } else if (!this.#isService(above)) {
      this.#addAll('listed', servicesBelow(label, { isHost: above !== this.#domain }), name);
    }
  }

  /** The name appears to come from a wildcard. There may still be another wildcard below it. */
  addWildcardBelow(name: Name): boolean {
    const isLikely = !this.isReverse && isHome(labelsOf(name)[0] as string);
    if (isLikely) this.#add('derived', '*', name);
    return isLikely;
  }

  learnNeighbours(names: readonly Name[]): void {
    for (const name of names) {
      if (this.#neighbours >= MAX_NEIGHBOURS || !isWithin(name, this.#domain)) continue;
      // synthesized neighbours have octets not used in host names (RFC 4470 §3, RFC 9824 §2)
      if (name === this.#domain || labelsOf(name).some((label) => !/^[a-z0-9_*-]+$/.test(label))) continue;
      this.#neighbours++;
      this.queue.add('learned', name, true);
    }
  }

  /**
   * There may be similar names next to an existing one. Its ancestors also exist, regardless of what servers answered for
   * them.
   */
  #openAbove(name: Name, found: string): void {
    for (let above = parentOf(name); above.length > this.#domain.length; above = parentOf(above)) {
      this.openContainer(above);
    }
    const parent = parentOf(name);
    if (parent === this.#domain || this.#opened.has(parent) || this.#isService(parent)) return;
    if (this.#depthOf(parent) > MAX_DEPTH) return;
    const names = namesBesides(found);
    if (names.length === 0) return;
    this.#opened.add(parent);
    this.#addAll('derived', ['*', ...names], parent);
  }

  #openReverse(name: Name): void {
    if (labelCount(name) >= reverseDepth(this.#domain)) return;
    this.#addAll('listed', ['*', ...reverseLabels(this.#domain)], name);
  }

  #learn(name: Name, { type, rdata }: ExistingSet): void {
    const names = someOf(rdata, (octets) => learnNames(this.#domain, type, octets));
    for (const each of names) this.queue.add('learned', each, true);
    if (type === TYPE.MX) for (const host of names) this.#add('learned', '_25._tcp', host); // RFC 7672 §2.2
    this.#noteProviders(
      name,
      type,
      someOf(rdata, (octets) => providerHosts(type, octets)),
    );
  }

  /** A name with its own mail has its own providers. An alias identifies a provider of the whole domain. */
  #noteProviders(name: Name, type: number, all: readonly string[]): void {
    if (type === TYPE.CNAME && !this.#isService(name)) {
      this.#addAll('derived', all.flatMap(claimsOf), name);
      this.#addAll('derived', all.flatMap(claimsOf), this.#domain);
    }
    const hosts = tellingHosts(all);
    if (hosts.length === 0 || this.isReverse) return;
    const hasOwn = type !== TYPE.CNAME && name !== this.#domain && !this.#isService(name);
    for (const at of hasOwn ? [this.#domain, name] : [this.#domain]) {
      this.#hosts.set(at, tellingHosts([...this.#hostsOf(at), ...hosts]));
      if (!this.#isListed) continue;
      const keys = this.#keysOf(at);
      if (keys !== undefined && this.#opened.has(keys)) this.#addAll('derived', selectorsOf(hosts), keys);
      this.#addAll('derived', companionsOf(hosts), at);
    }
  }

  #hostsOf(name: Name): readonly string[] {
    return this.#hosts.get(name) ?? [];
  }

  /** The domain's providers may also sign mail for the names below it. */
  #selectors(name: Name): string[] {
    return selectorsOf([...this.#hostsOf(name), ...this.#hostsOf(this.#domain)]);
  }

  #keysOf(name: Name): Name | undefined {
    return this.#below('_domainkey', name);
  }

  #addAll(lane: Lane, names: readonly string[], above: Name | undefined): void {
    if (above !== undefined) for (const each of names) this.#add(lane, each, above);
  }

  #add(lane: Lane, text: string, above: Name, isSure = lane === 'learned'): void {
    const name = this.#below(text, above);
    if (name !== undefined) this.queue.add(lane, name, isSure);
  }

  /** Returns undefined if the text is not a name or the name is too long. */
  #below(text: string, above: Name): Name | undefined {
    try {
      return foldCase(parseName(text, above));
    } catch (error) {
      if (error instanceof TextError) return undefined;
      throw error;
    }
  }

  /** True if there are services and keys below the name, but no hosts. */
  #isService(name: Name): boolean {
    return labelsOf(name).some((label) => label.startsWith('_'));
  }

  #depthOf(name: Name): number {
    return labelCount(name) - labelCount(this.#domain);
  }
}

/** Returns values from the records of a set, without duplicates and up to a limit. */
function someOf<T>(rdata: readonly Uint8Array[], give: (octets: Uint8Array) => readonly T[]): T[] {
  const some = new Set<T>();
  for (const octets of rdata) {
    for (const each of give(octets)) some.add(each);
    if (some.size >= MAX_SPOKEN_OF) break;
  }
  return [...some].slice(0, MAX_SPOKEN_OF);
}
