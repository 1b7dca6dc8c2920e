// Fills the country table from a MaxMind database. Walks its tree once, and decodes each data record only once.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Reader, type Response } from 'mmdb-lib';
import { type CountryPrefix, type CountryTable, countryNumber } from '../image/find/country-table.ts';

const SHIPPED = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb';
/** Depth of ::/96, which contains IPv4 in an IPv6 tree. */
const V4_DEPTH = 96;
/** Deeper nodes are merged into one prefix: no network has fewer than 2^64 addresses. */
const DEEPEST_V6 = 64;

/** Returns false if the database has more prefixes than fit into the table. Throws if it cannot be read. */
export function fillCountryTable(table: CountryTable, path = shippedPath()): boolean {
  const octets = readFileSync(path);
  const tree = new PrefixTree(octets);
  return table.fill(tree.prefixes(4), tree.prefixes(6));
}

function shippedPath(): string {
  return createRequire(import.meta.url).resolve(SHIPPED);
}

interface Found {
  readonly country_code?: unknown;
  readonly country?: { readonly iso_code?: unknown };
}

class PrefixTree {
  readonly #octets: Buffer;
  readonly #reader: Reader<Response>;
  readonly #nodes: number;
  readonly #recordBits: number;
  readonly #v4Root: number;
  readonly #countries = new Map<number, number>();

  constructor(octets: Buffer) {
    this.#octets = octets;
    this.#reader = new Reader<Response>(octets);
    const { nodeCount, recordSize, ipVersion } = this.#reader.metadata;
    this.#nodes = nodeCount;
    this.#recordBits = recordSize;
    let root = 0;
    if (ipVersion === 6)
      for (let depth = 0; depth < V4_DEPTH && root < nodeCount; depth++) root = this.#child(root, 0);
    this.#v4Root = root;
  }

  /** Yields all prefixes of a family, in the order of their addresses. */
  *prefixes(family: 4 | 6): Generator<CountryPrefix> {
    const isV6 = family === 6;
    const hasV6 = this.#reader.metadata.ipVersion === 6;
    const deepest = isV6 ? DEEPEST_V6 : 32;
    if (isV6 && !hasV6) {
      yield { high: 0, low: 0, bits: 0, country: 0 };
      return;
    }
    const walk = [{ node: isV6 ? 0 : this.#v4Root, high: 0, low: 0, depth: 0 }];
    for (let next = walk.pop(); next !== undefined; next = walk.pop()) {
      const { node, high, low, depth } = next;
      if (node >= this.#nodes || depth === deepest) {
        const country = node > this.#nodes ? this.#countryAt(node, family, high, low) : 0;
        yield { high, low, bits: depth, country };
        continue;
      }
      const bit = 0x80000000 >>> (depth & 31);
      const [highOne, lowOne] = depth < 32 ? [high | bit, low] : [high, low | bit];
      walk.push({ node: this.#child(node, 1), high: highOne, low: lowOne, depth: depth + 1 });
      walk.push({ node: this.#child(node, 0), high, low, depth: depth + 1 });
    }
  }

  #countryAt(node: number, family: 4 | 6, high: number, low: number): number {
    let country = this.#countries.get(node);
    if (country === undefined) {
      const { country_code, country: member } = (this.#reader.get(printed(family, high, low)) ?? {}) as Found;
      const code = country_code ?? member?.iso_code;
      country = typeof code === 'string' ? countryNumber(code) : 0;
      this.#countries.set(node, country);
    }
    return country;
  }

  #child(node: number, bit: 0 | 1): number {
    const octets = this.#octets;
    const at = (node * this.#recordBits) / 4;
    switch (this.#recordBits) {
      case 24:
        return octets.readUIntBE(at + 3 * bit, 3);
      case 28: {
        const middle = octets[at + 3] as number; // the upper four bits of both children
        return bit === 0
          ? ((middle >> 4) << 24) | octets.readUIntBE(at, 3)
          : ((middle & 15) << 24) | octets.readUIntBE(at + 4, 3);
      }
      default:
        return octets.readUInt32BE(at + 4 * bit);
    }
  }
}

function printed(family: 4 | 6, high: number, low: number): string {
  if (family === 4) return [24, 16, 8, 0].map((shift) => (high >>> shift) & 255).join('.');
  const groups = [high >>> 16, high & 0xffff, low >>> 16, low & 0xffff];
  return `${groups.map((group) => group.toString(16)).join(':')}::`;
}
