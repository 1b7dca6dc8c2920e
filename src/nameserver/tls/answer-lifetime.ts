// Calculates how long an HTTP cache may store an answer (RFC 8484 §5.1).

import { HEADER_OCTETS } from '../../dns/message/header.ts';
import { RCODE } from '../../dns/message/rcodes.ts';
import { TYPE } from '../../dns/type-codes.ts';

const TRUNCATED = 0x02;
/** A larger TTL counts as 0 (RFC 2181 §8). */
const MAX_TTL = 0x7fff_ffff;
/** Octets between the owner of a record and its rdata. */
const HEAD_OCTETS = 10;

/**
 * Returns seconds: the least TTL of the answer section, or, if the authority section has an SOA record, of the denial
 * (RFC 2308 §5). Errors, truncated answers and referrals are not cached. The answer must be well-formed.
 */
export function answerLifetime(answer: Buffer): number {
  const rcode = answer.readUInt8(3) & 15;
  if ((rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) || (answer.readUInt8(2) & TRUNCATED) !== 0)
    return 0;
  const answers = answer.readUInt16BE(6);
  const records = answers + answer.readUInt16BE(8);
  let at = HEADER_OCTETS;
  for (let i = answer.readUInt16BE(4); i > 0; i--) at = afterName(answer, at) + 4;
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < records; i++) {
    at = afterName(answer, at);
    const type = answer.readUInt16BE(at);
    const ttl = answer.readUInt32BE(at + 4);
    const end = at + HEAD_OCTETS + answer.readUInt16BE(at + 8);
    // MINIMUM is the last field of an SOA record.
    if (i < answers) least = Math.min(least, lifetimeOf(ttl));
    else if (type === TYPE.SOA)
      least = Math.min(least, lifetimeOf(ttl), lifetimeOf(answer.readUInt32BE(end - 4)));
    at = end;
  }
  return least === Number.POSITIVE_INFINITY ? 0 : least;
}

function lifetimeOf(ttl: number): number {
  return ttl > MAX_TTL ? 0 : ttl;
}

function afterName(message: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const length = message.readUInt8(at);
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2; // a pointer
    at += length + 1;
  }
}
