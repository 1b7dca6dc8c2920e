// Zones, and an endless stream of queries for them of all kinds: valid, unusual and malformed.

import { readFileSync } from 'node:fs';
import type { Name } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { assemble, queryFor as assembleQuery } from '../answer/packets.ts';
import { queryFor } from '../answer/queries.ts';
import type { ZoneText } from '../peers/peers.ts';
import { mutateOctets } from '../random/mutate-octets.ts';
import { pick, type Random, randomFrom, randomQuestion, randomZone } from '../random/random-zones.ts';
import { zoneOf } from '../zone/zone-text.ts';

const SEED = 20_411;
const RECORD_SETS = 80;
const RANDOM_ZONES = ['plain.test.', 'nsec.test.', 'nsec3.test.', 'other.test.'];
const EXAMPLE = 'example.test.';
const CHAOS_NAMES = ['version.bind.', 'version.server.', 'hostname.bind.', 'id.server.', 'authors.bind.'];
export const CLIENT_COOKIE = '2464c4abcf10c957';
/** The secret of compared nodes, whose cookies are verified. */
export const COOKIE_SECRET = '000102030405060708090a0b0c0d0e0f';
const HEADER_OCTETS = 12;
const MAX_OCTETS = 3000; // longer than a frame: the packet is a fragment
const OPCODES_OF_SLOW_PATH = new Set([4, 5]);
/** Type of a record. Queries that contain these octets elsewhere are skipped too. */
const TSIG = Buffer.of(0, TYPE.TSIG);
const TYPES_OF_SLOW_PATH = new Set<number>([TYPE.AXFR, TYPE.IXFR]);

/** Zones named after a denial style are to be signed with it. */
export function comparedZones(): ZoneText[] {
  const random = randomFrom(SEED);
  const zones = RANDOM_ZONES.map((apex) => randomZone(random, apex, RECORD_SETS, RANDOM_ZONES));
  const example = readFileSync(new URL('../../../fixtures/packets/example.zone', import.meta.url), 'utf8');
  return [{ apex: EXAMPLE, text: example }, ...zones.map(({ apex, text }) => ({ apex, text }))];
}

/** Generates queries. The caller sets their ids. */
export class QueryStream {
  /** A cookie of the server in hexadecimal, including the client's part. */
  cookie: string | undefined;
  readonly #random: Random;
  readonly #zones: readonly { readonly zone: Zone; readonly names: readonly Name[] }[];
  readonly #fixed: readonly Buffer[];

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    this.#zones = comparedZones().map(({ apex, text }) => {
      const zone = zoneOf(apex, text);
      return { zone, names: [...zone.nodes.keys()] };
    });
    const text = readFileSync(new URL('../../../fixtures/packets/queries.txt', import.meta.url), 'utf8');
    this.#fixed = text
      .split(/^== /m)
      .slice(1)
      .map((block) => assemble(block.split('\n')[1] as string));
  }

  next(): Buffer {
    for (;;) {
      const query = this.#any();
      if (!isForSlowPath(query)) return query;
    }
  }

  #any(): Buffer {
    const kind = this.#random();
    if (kind < 0.75) return this.#query();
    if (kind < 0.8) return assembleQuery(pick(this.#random, CHAOS_NAMES), TYPE.TXT, { class: 3 });
    if (kind < 0.85) return Buffer.from(pick(this.#random, this.#fixed));
    if (kind < 0.97)
      return mutateOctets(
        this.#random,
        this.#random() < 0.5 ? this.#query() : pick(this.#random, this.#fixed),
      );
    return Buffer.from(Array.from({ length: this.#below(300) }, () => this.#below(256)));
  }

  #query(): Buffer {
    const random = this.#random;
    const { zone, names } = pick(random, this.#zones);
    const question = randomQuestion(random, zone, names);
    const isPlain = question.udpPayloadSize === undefined;
    const query = Buffer.from(queryFor({ ...question, dnssecOk: !isPlain && random() < 0.4 }));
    query[2] = (query[2] as number) | (random() < 0.5 ? 1 : 0); // RD
    query[3] = pick(random, [0, 0, 0x10, 0x20, 0x30]); // AD, CD
    const end = query.length;
    if (random() < 0.03)
      query.writeUInt16BE(
        pick(random, [1, 3, 4, 254, 255, this.#below(65_536)]),
        isPlain ? end - 2 : end - 13,
      );
    return isPlain ? query : this.#withOptions(query);
  }

  /** Adds options to the OPT record at the end, which has none. */
  #withOptions(query: Buffer): Buffer {
    const random = this.#random;
    const options: Buffer[] = [];
    const add = (code: number, value: Buffer) => {
      const head = Buffer.alloc(4);
      head.writeUInt16BE(code, 0);
      head.writeUInt16BE(value.length, 2);
      options.push(head, value);
    };
    const cookie = random();
    if (cookie < 0.15) add(10, Buffer.from(CLIENT_COOKIE, 'hex'));
    else if (cookie < 0.4) add(10, Buffer.from(this.cookie ?? CLIENT_COOKIE, 'hex'));
    else if (cookie < 0.45) add(10, Buffer.from(`${CLIENT_COOKIE}${'0'.repeat(32)}`, 'hex'));
    else if (cookie < 0.5) add(10, Buffer.alloc(this.#below(42)));
    if (random() < 0.1) add(3, Buffer.alloc(0)); // NSID
    if (random() < 0.1) add(19, Buffer.alloc(0)); // ZONEVERSION
    if (random() < 0.05) add(8, Buffer.from('000118007f0000', 'hex')); // CLIENT-SUBNET
    if (random() < 0.02) add(12, Buffer.alloc(this.#below(MAX_OCTETS))); // padding
    if (random() < 0.02) add(65_001, Buffer.alloc(this.#below(20)));
    const rdata = Buffer.concat(options);
    query.writeUInt16BE(rdata.length, query.length - 2);
    if (random() < 0.01) query[query.length - 5] = 1; // EDNS version
    return Buffer.concat([query, rdata]);
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

/** Returns true if the transfer thread answers the query: within limits, and always through the kernel. */
function isForSlowPath(query: Buffer): boolean {
  if (query.length < HEADER_OCTETS) return false;
  if (query.includes(TSIG, HEADER_OCTETS)) return true;
  if (OPCODES_OF_SLOW_PATH.has(((query[2] as number) >> 3) & 15)) return true;
  let at = HEADER_OCTETS;
  while (at < query.length && query[at] !== 0 && (query[at] as number) < 64) at += 1 + (query[at] as number);
  return at + 3 <= query.length && TYPES_OF_SLOW_PATH.has(query.readUInt16BE(at + 1));
}
