// Prints samples as lines of JSON, as octets: thousands per second must cost little. All octets are printable ASCII.

import { HEADER_OCTETS } from '../../dns/message/header.ts';
import { rcodeMnemonic } from '../../dns/message/rcodes.ts';
import { foldCase, type Name, printName } from '../../dns/name.ts';
import { printAddress, printIpv6 } from '../../dns/record/ip-address.ts';
import { typeMnemonic } from '../../dns/type-codes.ts';
import { TRANSPORTS } from '../answer/transports.ts';
import type { ReadSample } from './sample-record.ts';

/** Upper bound on a line: two names of 255 octets, each printed as at most 5 characters, and the rest. */
export const MAX_LINE_OCTETS = 2 * 5 * 256 + 256;
const IPV6_PREFIX_OCTETS = 6;
const DOT = 0x2e;
const LINE_END = 0x0a;

/** For each octet of a label: its text in a JSON string, in lower case, and escaped as in zone files. */
const LABEL_TEXTS = Array.from({ length: 256 }, (_, octet) => {
  const name = foldCase(`\x01${String.fromCharCode(octet)}\0` as Name);
  const text = JSON.stringify(printName(name));
  return Buffer.from(text.slice(1, -2), 'latin1'); // without the quotes and the final dot
});

export class QueryLines {
  readonly #client: 'prefix' | 'full';
  #out: Uint8Array = new Uint8Array(0);
  #at = 0;
  /** The second of the last line, and its text up to the point. */
  #second = Number.NaN;
  #secondText = '';

  constructor(client: 'prefix' | 'full') {
    this.#client = client;
  }

  /** Writes the line of a sample to `out` from `at` on. Returns the offset after it. */
  write(sample: ReadSample, out: Uint8Array, at: number): number {
    this.#out = out;
    this.#at = at;
    const { query, nameEnd, zoneAt } = sample;
    this.#writeText('{"at":"');
    this.#writeTime(sample.startedAtMs);
    this.#writeText('","client":"');
    this.#writeText(this.#client === 'full' ? printAddress(sample.address) : printNetwork(sample.address));
    this.#writeText('","name":');
    this.#writeName(query, HEADER_OCTETS, nameEnd);
    this.#writeText(',"type":');
    this.#writeText(nameEnd === 0 ? 'null' : `"${typeMnemonic(sample.type)}"`);
    this.#writeText(',"rcode":"');
    this.#writeText(rcodeMnemonic(sample.rcode));
    this.#writeText('","transport":"');
    this.#writeText(TRANSPORTS[sample.transport]);
    this.#writeText('","zone":');
    this.#writeName(query, zoneAt, zoneAt === 0 ? 0 : nameEnd);
    this.#writeText(',"us":');
    this.#writeText(`${Math.round((sample.endedAtMs - sample.startedAtMs) * 1000)}`);
    this.#writeText('}');
    out[this.#at++] = LINE_END;
    return this.#at;
  }

  #writeTime(ms: number): void {
    const second = Math.floor(ms / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#secondText = new Date(second * 1000).toISOString().slice(0, -4);
    }
    this.#writeText(this.#secondText);
    this.#writeText(`${1000 + Math.floor(ms - second * 1000)}Z`, 1);
  }

  /** Writes the name from `at` on, or null if `end` is 0. */
  #writeName(octets: Uint8Array, from: number, end: number): void {
    if (end === 0) {
      this.#writeText('null');
      return;
    }
    const out = this.#out;
    this.#writeText('"');
    if (from === end - 1) out[this.#at++] = DOT; // the root
    for (let at = from; at < end - 1; ) {
      const labelEnd = at + 1 + (octets[at] as number);
      for (at++; at < labelEnd; at++) {
        const text = LABEL_TEXTS[octets[at] as number] as Uint8Array;
        for (let i = 0; i < text.length; i++) out[this.#at++] = text[i] as number;
      }
      out[this.#at++] = DOT;
    }
    this.#writeText('"');
  }

  #writeText(text: string, from = 0): void {
    for (let i = from; i < text.length; i++) this.#out[this.#at++] = text.charCodeAt(i);
  }
}

/** Returns the /24 or /48 network of an address. */
function printNetwork(address: Uint8Array): string {
  if (address.length === 4) return `${address[0]}.${address[1]}.${address[2]}.0/24`;
  const network = new Uint8Array(address.length);
  network.set(address.subarray(0, IPV6_PREFIX_OCTETS));
  return `${printIpv6(network)}/48`;
}
