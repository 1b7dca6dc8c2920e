// Where a scan's names come from: the word list, and leads from the names that it finds.

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

/**
 * How many labels below the domain the scan tries names; deeper names are asked for only when a record mentions them.
 */
const MAX_DEPTH = 4;
/** A signed zone may show all its names (RFC 4034 §4): they are learned, up to this number. */
const MAX_NEIGHBOURS = 1000;
/** How many names mentioned by one record set are followed. */
const MAX_SPOKEN_OF = 256;

export class ScanLeads {
  readonly queue = new NameQueue();
  readonly isReverse: boolean;
  readonly #domain: Name;
  readonly #words: readonly string[];
  /** Names below which a group of hosts, or all names that a container may hold, were queued. */
  readonly #opened = new Set<Name>();
  /** The hosts that show the providers of the domain, and of each name that mail is sent from. */
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

  /** Queues the list, after the domain's own records have been followed. */
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

  /** Follows a name that exists. If it has no records, another name is below it. */
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
    // who has a certificate here may have the usual others
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
   * Queues what may be below a container, whatever `name` says: only NXDOMAIN shows that nothing is below a name that
   * holds services or keys.
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

  /** The name seems to be made by a wildcard; another wildcard may still be below it. */
  addWildcardBelow(name: Name): boolean {
    const isLikely = !this.isReverse && isHome(labelsOf(name)[0] as string);
    if (isLikely) this.#add('derived', '*', name);
    return isLikely;
  }

  learnNeighbours(names: readonly Name[]): void {
    for (const name of names) {
      if (this.#neighbours >= MAX_NEIGHBOURS || !isWithin(name, this.#domain)) continue;
      // made-up neighbours have octets that no host name has (RFC 4470 §3, RFC 9824 §2)
      if (name === this.#domain || labelsOf(name).some((label) => !/^[a-z0-9_*-]+$/.test(label))) continue;
      this.#neighbours++;
      this.queue.add('learned', name, true);
    }
  }

  /**
   * Beside a name that exists there may be similar ones. The names above it exist too, whatever servers said of them.
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

  /** A name with mail of its own has providers of its own; what an alias shows holds for the whole domain. */
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

  /** The domain's providers may sign mail for the names below it too. */
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

  /** Undefined when the text is not a name, or the name is too long. */
  #below(text: string, above: Name): Name | undefined {
    try {
      return foldCase(parseName(text, above));
    } catch (error) {
      if (error instanceof TextError) return undefined;
      throw error;
    }
  }

  /** Whether services and keys are below the name, and no hosts. */
  #isService(name: Name): boolean {
    return labelsOf(name).some((label) => label.startsWith('_'));
  }

  #depthOf(name: Name): number {
    return labelCount(name) - labelCount(this.#domain);
  }
}

/** What the records of a set give, without duplicates and up to a limit. */
function someOf<T>(rdata: readonly Uint8Array[], give: (octets: Uint8Array) => readonly T[]): T[] {
  const some = new Set<T>();
  for (const octets of rdata) {
    for (const each of give(octets)) some.add(each);
    if (some.size >= MAX_SPOKEN_OF) break;
  }
  return [...some].slice(0, MAX_SPOKEN_OF);
}
