// A made zone while it is written: what cannot stand in a zone is left out, as an owner's panel would refuse it.

import { isWithin, type Name, parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { pick, type Random } from '../random/random-zones.ts';
import { recordsOf } from '../zone/zone-text.ts';
import type { DraftRecord, Sort } from './scan-corpus-labels.ts';
import { hex, obscureName } from './scan-corpus-names.ts';

export type Given = DraftRecord['label'];

/** A zone below a cut of the made zone, whose records belong to it alone. */
export interface ChildDraft {
  readonly apex: string;
  readonly text: string;
  /** Undefined: at the servers of the zone above. */
  readonly addresses: readonly string[] | undefined;
}

const TTLS = [300, 300, 600, 1800, 3600, 3600, 3600, 14_400, 86_400] as const;
/** First octets of networks that are in use for servers. */
const NETWORKS = [
  5, 31, 37, 45, 46, 62, 77, 80, 81, 85, 88, 91, 93, 94, 109, 116, 138, 157, 159, 167, 178,
] as const;
/** Where web sites are hosted that are not at home. */
const PLATFORMS = [
  'cname.vercel-dns.com.',
  'ghs.googlehosted.com.',
  'shops.myshopify.com.',
  'proxy-ssl.webflow.com.',
  'd3k81ch9hvuctc.cloudfront.net.',
  'j.sni.global.fastly.net.',
  'custom.zendesk.com.',
  'stspg-customer.com.',
  'apps.herokudns.com.',
  'ext-cust.squarespace.com.',
] as const;

export class ZoneDraft {
  readonly random: Random;
  /** With the final dot. */
  readonly domain: string;
  readonly apex: Name;
  readonly records: DraftRecord[] = [];
  readonly children: ChildDraft[] = [];
  readonly #types = new Map<Name, Set<number>>();
  readonly #ttls = new Map<string, number>();
  readonly #cuts: Name[] = [];

  constructor(random: Random, domain: string) {
    this.random = random;
    this.domain = domain;
    this.apex = parseName(domain);
  }

  chance(part: number): boolean {
    return this.random() < part;
  }

  /** From `low` to `high`. */
  between(low: number, high: number): number {
    return low + Math.floor(this.random() * (high - low + 1));
  }

  has(name: string): boolean {
    return this.#types.has(parseName(name === '@' ? this.domain : `${name}.${this.domain}`));
  }

  /** `name TYPE rdata`, names relative to the domain. False when it cannot stand there. */
  add(line: string, sort: Sort, label: Given = 'common'): boolean {
    const space = line.indexOf(' ');
    const [record] = recordsOf(`${line.slice(0, space)} 0 ${line.slice(space + 1)}`, this.domain);
    if (record === undefined || !this.#fits(record.owner, record.type, record.rdata)) return false;
    const types = this.#types.get(record.owner) ?? new Set();
    this.#types.set(record.owner, types.add(record.type));
    this.records.push({ ...record, ttl: this.#ttlOf(record.owner, record.type), label, sort });
    return true;
  }

  /** An address here or an alias, as hosts have it. */
  host(name: string, sort: Sort, label: Given = 'common'): void {
    if (this.has(name)) return;
    const roll = this.random();
    if (roll < 0.16)
      this.add(`${name} CNAME ${this.has('www') && this.chance(0.5) ? 'www' : '@'}`, sort, label);
    else if (roll < 0.36) this.add(`${name} CNAME ${pick(this.random, PLATFORMS)}`, sort, label);
    else if (roll < 0.42) this.#aliasOfMadeUp(name, sort, label);
    else this.addresses(name, sort, label);
  }

  addresses(name: string, sort: Sort, label: Given = 'common'): void {
    const count = this.chance(0.08) ? this.between(2, 4) : 1;
    const isInside = name !== '@' && this.chance(0.05); // printers and file servers in the public DNS
    for (let i = 0; i < count; i++) {
      this.add(
        `${name} A ${isInside ? `192.168.${this.between(0, 9)}.${this.between(1, 254)}` : this.ipv4()}`,
        sort,
        label,
      );
    }
    if (!isInside && this.chance(0.3)) this.add(`${name} AAAA ${this.ipv6()}`, sort, label);
  }

  /** NS, with addresses of name servers below the cut when it has such, and with DS when it is signed. */
  cut(
    name: string,
    how: 'elsewhere' | 'below' | 'same servers',
    label: Given,
    zoneNs: readonly string[],
  ): void {
    if (this.has(name)) return;
    const number = this.between(10, 99);
    const elsewhere = [`ns-${number}.awsdns-${number}.com.`, `ns-5${number}.awsdns-${number}.net.`];
    const below = [`ns1.${name}`, `ns2.${name}`];
    const ns = how === 'elsewhere' ? elsewhere : how === 'below' ? below : zoneNs;
    if (!ns.every((target) => this.add(`${name} NS ${target}`, 'cut', label))) return;
    const glue = below.map((server) => ({ server, address: this.ipv4() }));
    if (how === 'below') {
      for (const { server, address } of glue) this.add(`${server} A ${address}`, 'glue', label);
    }
    if (this.chance(0.25)) {
      this.add(`${name} DS ${this.between(1, 65_535)} 13 2 ${hex(this.random, 64)}`, 'cut', label);
    }
    this.#cuts.push(parseName(`${name}.${this.domain}`));
    if (how === 'elsewhere') return;
    const apexNs = ns.map((target) => `@ NS ${target.endsWith('.') ? target : `${target}.${this.domain}`}`);
    const own =
      how === 'below' ? glue.map(({ server, address }) => `${server}.${this.domain} A ${address}`) : [];
    this.children.push({
      apex: `${name}.${this.domain}`,
      text: [...apexNs, ...own, `@ A ${this.ipv4()}`, `www A ${this.ipv4()}`, `mail A ${this.ipv4()}`].join(
        '\n',
      ),
      addresses: how === 'below' ? glue.map(({ address }) => address) : undefined,
    });
  }

  ipv4(): string {
    const octet = () => this.between(1, 254);
    return `${pick(this.random, NETWORKS)}.${octet()}.${octet()}.${octet()}`;
  }

  ipv6(): string {
    return `2a0${this.between(1, 9)}:${hex(this.random, 4)}:${hex(this.random, 4)}::${hex(this.random, 3)}`;
  }

  #aliasOfMadeUp(name: string, sort: Sort, label: Given): void {
    const target = obscureName(this.random);
    if (!this.add(`${name} CNAME ${target}`, sort, label)) return;
    if (!this.has(target)) this.addresses(target, 'made up', 'obscure');
  }

  #ttlOf(owner: Name, type: number): number {
    const key = `${type} ${owner}`;
    const ttl = this.#ttls.get(key) ?? pick(this.random, TTLS);
    this.#ttls.set(key, ttl);
    return ttl;
  }

  #fits(owner: Name, type: number, rdata: Uint8Array): boolean {
    if (this.#cuts.some((cut) => isWithin(owner, cut))) return false;
    const types = this.#types.get(owner);
    if (types === undefined) return true;
    if (types.has(TYPE.NS) && owner !== this.apex && type !== TYPE.NS && type !== TYPE.DS) return false;
    if (types.has(TYPE.CNAME) || type === TYPE.CNAME) return false;
    if (type === TYPE.SOA && types.has(type)) return false;
    return !this.records.some(
      (other) => other.owner === owner && other.type === type && Buffer.compare(other.rdata, rdata) === 0,
    );
  }
}

/** Without the final dot. */
export function bare(domain: string): string {
  return domain.slice(0, -1);
}
