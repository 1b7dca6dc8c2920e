// A signature over a record set (RFC 4034 §3). Times count seconds from 1970 modulo 2^32 and are printed as dates.

import { TYPE, typeCode, typeMnemonic } from '../../type-codes.ts';
import { base64, domainName, u8, u16, u32 } from '../fields.ts';
import { type Field, recordType } from '../record-type.ts';
import { securityAlgorithm } from '../security-algorithm.ts';

const coveredType: Field<number> = {
  ...u16,
  parse(tokens) {
    const token = tokens.word();
    return typeCode(token.text) ?? tokens.fail(`"${token.text}" is not a record type`, token);
  },
  print: typeMnemonic,
};

/** RFC 4034 §3.2: fourteen digits YYYYMMDDHHmmSS in UTC, at most ten are seconds. */
const time: Field<number> = {
  ...u32,
  parse(tokens) {
    const token = tokens.word();
    const seconds = /^[0-9]{1,10}$/.test(token.text) ? Number(token.text) : secondsOfDate(token.text);
    if (seconds !== undefined && seconds <= 0xffffffff) return seconds;
    return tokens.fail(`"${token.text}" is not a time as YYYYMMDDHHmmSS or in seconds`, token);
  },
  print: dateOfSeconds,
};

function secondsOfDate(text: string): number | undefined {
  if (!/^[0-9]{14}$/.test(text)) return undefined;
  const seconds = Date.parse(text.replace(/^(....)(..)(..)(..)(..)(..)$/, '$1-$2-$3T$4:$5:$6Z')) / 1000;
  // Date takes 24:00:00 and, in some engines, 31 February: only a date that prints as itself is one
  return seconds >= 0 && dateOfSeconds(seconds) === text ? seconds : undefined;
}

function dateOfSeconds(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/\.000Z$|[-T:]/g, '');
}

export const RRSIG = recordType(TYPE.RRSIG, {
  typeCovered: coveredType,
  algorithm: securityAlgorithm,
  labels: u8,
  originalTtl: u32,
  expiration: time,
  inception: time,
  keyTag: u16,
  signer: domainName,
  signature: base64,
});
