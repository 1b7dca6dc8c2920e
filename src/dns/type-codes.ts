// The codes of record types and classes and their mnemonics (IANA "DNS parameters"). Codes without a mnemonic here are
// written TYPEnnn and CLASSnnn (RFC 3597 §5), even if IANA has a name for them.

import { upperCaseAscii } from './ascii.ts';

export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  RP: 17,
  AFSDB: 18,
  KEY: 25,
  AAAA: 28,
  LOC: 29,
  SRV: 33,
  NAPTR: 35,
  CERT: 37,
  DNAME: 39,
  OPT: 41,
  APL: 42,
  DS: 43,
  SSHFP: 44,
  RRSIG: 46,
  NSEC: 47,
  DNSKEY: 48,
  DHCID: 49,
  NSEC3: 50,
  NSEC3PARAM: 51,
  TLSA: 52,
  SMIMEA: 53,
  CDS: 59,
  CDNSKEY: 60,
  OPENPGPKEY: 61,
  CSYNC: 62,
  ZONEMD: 63,
  SVCB: 64,
  HTTPS: 65,
  SPF: 99,
  EUI48: 108,
  EUI64: 109,
  TKEY: 249,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  MAILB: 253,
  MAILA: 254,
  ANY: 255,
  URI: 256,
  CAA: 257,
} as const;

export const CLASS = { IN: 1, CH: 3, HS: 4, NONE: 254, ANY: 255 } as const;

const typeCodes = new Map<string, number>(Object.entries(TYPE));
const typeMnemonics = new Map<number, string>(
  Object.entries(TYPE).map(([mnemonic, code]) => [code, mnemonic]),
);
const classCodes = new Map<string, number>(Object.entries(CLASS));

/** Returns the code of `A`, `a` or `TYPE65280`, or undefined. */
export function typeCode(mnemonic: string): number | undefined {
  const upper = upperCaseAscii(mnemonic);
  return typeCodes.get(upper) ?? numberAfter('TYPE', upper);
}

export function typeMnemonic(code: number): string {
  return typeMnemonics.get(code) ?? `TYPE${code}`;
}

/** Returns the code of `IN`, `in` or `CLASS32`, or undefined. */
export function classCode(mnemonic: string): number | undefined {
  const upper = upperCaseAscii(mnemonic);
  return classCodes.get(upper) ?? numberAfter('CLASS', upper);
}

function numberAfter(word: string, text: string): number | undefined {
  if (!text.startsWith(word) || !/^[0-9]{1,5}$/.test(text.slice(word.length))) return undefined;
  const code = Number(text.slice(word.length));
  return code <= 0xffff ? code : undefined;
}
