// Packets as text, for fixtures and tests: hex octets, "names." and OPT(…) in a row, with spaces anywhere.
//   1234 0000 0001 0000 0000 0001 "www.example.test." 0001 0001 OPT(size=4096 do version=1 cookie:0102030405060708 3:)

import { EDNS_OPTION } from '../../../src/dns/message/edns.ts';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { rcodeMnemonic } from '../../../src/dns/message/rcodes.ts';
import { encodeName, parseName } from '../../../src/dns/name.ts';

const OPTION_CODES: Record<string, number> = {
  nsid: EDNS_OPTION.NSID,
  subnet: EDNS_OPTION.CLIENT_SUBNET,
  cookie: EDNS_OPTION.COOKIE,
  keepalive: EDNS_OPTION.TCP_KEEPALIVE,
  padding: EDNS_OPTION.PADDING,
  ede: EDNS_OPTION.EXTENDED_ERROR,
  zoneversion: EDNS_OPTION.ZONEVERSION,
};

export function assemble(text: string): Buffer {
  const parts = text.match(/"[^"]*"|OPT\([^)]*\)|[0-9a-fA-F]{2}|\S/g) ?? [];
  return Buffer.concat(parts.map(octetsOf));
}

function octetsOf(part: string): Uint8Array {
  if (part.startsWith('"')) return encodeName(parseName(part.slice(1, -1)));
  if (part.startsWith('OPT(')) return optOf(part.slice(4, -1));
  if (!/^[0-9a-fA-F]{2}$/.test(part)) throw new Error(`"${part}" is not a part of a packet`);
  return Buffer.from(part, 'hex');
}

/** Returns an OPT record. `owner=00` and similar words replace the defaults. */
function optOf(text: string): Uint8Array {
  let size = 1232;
  let version = 0;
  let flags = 0;
  const options: Uint8Array[] = [];
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    if (word.startsWith('size=')) size = Number(word.slice(5));
    else if (word.startsWith('version=')) version = Number(word.slice(8));
    else if (word === 'do') flags = 0x8000;
    else options.push(optionOf(word));
  }
  const rdata = Buffer.concat(options);
  const head = Buffer.alloc(11);
  head.writeUInt16BE(41, 1);
  head.writeUInt16BE(size, 3);
  head.writeUInt8(version, 6);
  head.writeUInt16BE(flags, 7);
  head.writeUInt16BE(rdata.length, 9);
  return Buffer.concat([head, rdata]);
}

/** Parses `nsid`, `cookie:<hex>` or `65001:<hex>`. */
function optionOf(word: string): Uint8Array {
  const [code = '', hex = ''] = word.split(':');
  const value = Buffer.from(hex, 'hex');
  if (value.length * 2 !== hex.length) throw new Error(`"${word}" has an odd value`);
  const head = Buffer.alloc(4);
  head.writeUInt16BE(OPTION_CODES[code] ?? Number(code));
  head.writeUInt16BE(value.length, 2);
  return Buffer.concat([head, value]);
}

export function queryFor(
  name: string,
  type: number,
  options: { id?: number; class?: number; rd?: boolean; opt?: string } = {},
): Buffer {
  const hex = (value: number) => value.toString(16).padStart(4, '0');
  const flags = options.rd === true ? '0100' : '0000';
  const opt = options.opt === undefined ? '' : `OPT(${options.opt})`;
  const counts = `0001 0000 0000 ${opt === '' ? '0000' : '0001'}`;
  return assemble(
    `${hex(options.id ?? 0x1234)} ${flags} ${counts} "${name}" ${hex(type)} ${hex(options.class ?? 1)} ${opt}`,
  );
}

/** Returns `RCODE flags questions/answers/authorities/additionals [OPT(…)]`, which tables compare. */
export function summarize(reply: Uint8Array): string {
  if (reply.length === 0) return 'silence';
  const message = decodeMessage(reply);
  const flags = (['aa', 'tc', 'rd', 'ra', 'ad', 'cd'] as const).filter((flag) => message[flag]).join(' ');
  const counts = [message.questions, message.answers, message.authorities, message.additionals];
  const parts = [rcodeMnemonic(message.rcode), flags || '-', counts.map((part) => part.length).join('/')];
  if (message.edns !== undefined) parts.push(summarizeOpt(message.edns));
  return parts.join(' ');
}

function summarizeOpt(edns: NonNullable<ReturnType<typeof decodeMessage>['edns']>): string {
  const names = new Map(Object.entries(OPTION_CODES).map(([name, code]) => [code, name]));
  const words = edns.options.map(({ code, value }) => {
    const hex = Buffer.from(value).toString('hex');
    return `${names.get(code) ?? code}:${hex}`;
  });
  if (edns.dnssecOk) words.unshift('do');
  if (edns.version !== 0) words.unshift(`version=${edns.version}`);
  if (edns.udpPayloadSize !== 1232) words.unshift(`size=${edns.udpPayloadSize}`);
  return `OPT(${words.join(' ')})`;
}
