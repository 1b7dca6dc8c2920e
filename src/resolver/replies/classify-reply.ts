// Classifies a reply from the servers of a zone. Uses only data for which those servers are authoritative: names inside the
// queried zone, and never a zone above a delegation.

import type { Message, MessageRecord } from '../../dns/message/message.ts';
import { RCODE, rcodeMnemonic } from '../../dns/message/rcodes.ts';
import {
  compareNames,
  foldCase,
  isWithin,
  type Name,
  nameInRdata,
  printName,
  replaceSuffix,
} from '../../dns/name.ts';
import { printAddress } from '../../dns/record/ip-address.ts';
import { CLASS, TYPE } from '../../dns/type-codes.ts';
import type { Question } from '../exchange/exchange.ts';

/** An address of a nameserver, with the nameserver's name. */
interface Glue {
  readonly name: Name;
  readonly address: string;
  readonly ttl: number;
}

/** Names are folded. TTLs are in seconds. */
export type UsefulReply =
  /** `cut` is strictly below the zone, and at or above the query name. */
  | {
      readonly kind: 'referral';
      readonly cut: Name;
      readonly ns: readonly Name[];
      readonly ttl: number;
      readonly ds: readonly Uint8Array[];
      readonly glue: readonly Glue[];
    }
  /** The reply has AA and records of the name and type. */
  | {
      readonly kind: 'answer';
      readonly rdata: readonly Uint8Array[];
      readonly ttl: number;
      readonly glue: readonly Glue[];
    }
  /** The reply has AA, and a CNAME at the name or a DNAME above it. `target` is undefined if it cannot be determined. */
  | { readonly kind: 'alias'; readonly target: Name | undefined; readonly ttl: number }
  /** The reply has AA. `soa` is the queried zone, or one below it that the server also serves. */
  | { readonly kind: 'nodata' | 'nxdomain'; readonly soa: Name; readonly ttl: number };

export type ReplyOf<K extends UsefulReply['kind']> = Extract<UsefulReply, { kind: K }>;

type UselessReply =
  | { readonly kind: 'lame' | 'bad'; readonly error: string }
  | { readonly kind: 'refused' | 'servfail' }
  | { readonly kind: 'timeout'; readonly error?: string };

export type ClassifiedReply = UsefulReply | UselessReply;

const REFUSED: UselessReply = { kind: 'refused' };
const SERVFAIL: UselessReply = { kind: 'servfail' };
/** Real sets have fewer records. A larger set would only cause work. */
export const MAX_RECORDS = 256;
const MAX_TTL = 0x7fffffff;

/** `question.name` and `zone` are folded, and the name is below the zone. */
export function classifyReply(message: Message, question: Question, zone: Name): ClassifiedReply {
  const { rcode, aa } = message;
  if (rcode === RCODE.REFUSED) return REFUSED;
  if (rcode === RCODE.SERVFAIL) return SERVFAIL;
  if (message.tc) return bad('the reply is truncated over TCP as well');
  const isNegative = rcode === RCODE.NXDOMAIN;
  if (rcode !== RCODE.NOERROR && !isNegative && rcode !== RCODE.YXDOMAIN) return bad(rcodeMnemonic(rcode));

  const records = recordsOf(message.answers, question.name, question.type);
  if (records.length > 0) {
    if (!aa) return lame('its answer lacks the AA bit');
    if (rcode !== RCODE.NOERROR) return bad(`an answer with ${rcodeMnemonic(rcode)}`);
    if (records.length > MAX_RECORDS) return bad(`a set of ${records.length} records`);
    const names = question.type === TYPE.NS ? namesIn(rdataOf(records)) : [];
    return {
      kind: 'answer',
      rdata: rdataOf(records),
      ttl: lowestTtl(records),
      glue: glueFor(names, message, zone),
    };
  }
  const alias = readAlias(message, question, zone);
  if (alias !== undefined) return aa ? alias : lame('its answer lacks the AA bit');
  if (rcode === RCODE.YXDOMAIN) return bad(rcodeMnemonic(rcode));
  if (isNegative || (aa && !isReferralWithAa(message, zone))) return readNegative(message, question, zone);
  return readReferral(message, question, zone);
}

/**
 * A referral has AA=0 (RFC 1034 §4.3.2, RFC 9471 §2), but some registries set it. Without an answer and an SOA, NS records
 * of a name below the zone can only be a referral.
 */
function isReferralWithAa({ authorities }: Message, zone: Name): boolean {
  let refersDown = false;
  for (const { owner, type, class: classCode } of authorities) {
    if (type === TYPE.SOA) return false;
    if (type !== TYPE.NS || classCode !== CLASS.IN) continue;
    const cut = foldCase(owner);
    refersDown ||= cut !== zone && isWithin(cut, zone);
  }
  return refersDown;
}

/**
 * RFC 1034 §3.6.2. A DNAME applies to names below it (RFC 6672 §2.3), but if a server returns one at the name, treat it as
 * applying to the name.
 */
function readAlias(message: Message, { name, type }: Question, zone: Name): UsefulReply | undefined {
  const [cname] = type === TYPE.CNAME ? [] : recordsOf(message.answers, name, TYPE.CNAME);
  if (cname !== undefined) {
    return { kind: 'alias', target: foldCase(nameInRdata(cname.rdata)), ttl: lowestTtl([cname]) };
  }
  const dname = message.answers.find((record) => {
    if (record.type !== TYPE.DNAME || record.class !== CLASS.IN || record.rdata.length === 0) return false;
    const owner = foldCase(record.owner);
    return isWithin(name, owner) && isWithin(owner, zone);
  });
  if (dname === undefined) return undefined;
  // A server that sends no CNAME with the DNAME leaves that to us (RFC 6672 §3.4), unless the name would be too long.
  const owner = foldCase(dname.owner);
  const isMade = owner !== name && message.rcode !== RCODE.YXDOMAIN;
  const target = isMade ? replaceSuffix(name, owner, foldCase(nameInRdata(dname.rdata))) : undefined;
  return { kind: 'alias', target, ttl: lowestTtl([dname]) };
}

/** RFC 2308 §2: a negative answer has an SOA. Without an SOA or AA, the reply is not authoritative. */
function readNegative(message: Message, { name }: Question, zone: Name): ClassifiedReply {
  const what = message.rcode === RCODE.NXDOMAIN ? 'NXDOMAIN' : 'no data';
  if (!message.aa) return lame(`${what} without the AA bit`);
  const soa = message.authorities.find(
    (record) => record.type === TYPE.SOA && record.class === CLASS.IN && record.rdata.length > 0,
  );
  if (soa === undefined) return lame(`${what} without an SOA`);
  const owner = foldCase(soa.owner);
  if (!isWithin(owner, zone) || !isWithin(name, owner)) {
    return lame(`${what} with the SOA of ${printName(owner)}`);
  }
  const { rdata } = soa;
  const minimum = new DataView(rdata.buffer, rdata.byteOffset).getUint32(rdata.byteLength - 4);
  return {
    kind: what === 'NXDOMAIN' ? 'nxdomain' : 'nodata',
    soa: owner,
    ttl: Math.min(lowestTtl([soa]), ttlOf(minimum)),
  };
}

function readReferral(message: Message, { name }: Question, zone: Name): ClassifiedReply {
  let cut: Name | undefined;
  let upward: Name | undefined;
  const records: MessageRecord[] = [];
  for (const record of message.authorities) {
    if (record.type !== TYPE.NS || record.class !== CLASS.IN || record.rdata.length === 0) continue;
    const owner = foldCase(record.owner);
    if (owner === zone || !isWithin(owner, zone) || !isWithin(name, owner)) {
      if (isWithin(zone, owner)) upward = owner;
      continue;
    }
    if (cut !== undefined && cut !== owner) return bad('it refers to two zones');
    cut = owner;
    records.push(record);
  }
  if (cut === undefined) {
    return lame(
      upward === undefined
        ? 'neither the AA bit nor a referral'
        : `it refers upwards to ${printName(upward)}`,
    );
  }
  const ns = namesIn(rdataOf(records));
  if (ns.length > MAX_RECORDS) return bad(`a set of ${ns.length} records`);
  const ds = rdataOf(recordsOf(message.authorities, cut, TYPE.DS)).sort(Buffer.compare);
  return { kind: 'referral', cut, ns, ttl: lowestTtl(records), ds, glue: glueFor(ns, message, zone) };
}

/** Returns only addresses of these names inside the queried zone. */
function glueFor(names: readonly Name[], message: Message, zone: Name): Glue[] {
  const glue: Glue[] = [];
  if (message.additionals.length === 0) return glue;
  const wanted = new Set(names);
  for (const { owner, type, class: classCode, ttl, rdata } of message.additionals) {
    if ((type !== TYPE.A && type !== TYPE.AAAA) || classCode !== CLASS.IN || rdata.length === 0) continue;
    const name = foldCase(owner);
    if (!wanted.has(name) || !isWithin(name, zone)) continue;
    glue.push({ name, address: printAddress(rdata), ttl: ttlOf(ttl) });
  }
  return glue;
}

/** Returns the names of an NS set, folded, in canonical order and without duplicates. */
export function namesIn(rdata: readonly Uint8Array[]): Name[] {
  const names = new Set<Name>();
  for (const octets of rdata) names.add(foldCase(nameInRdata(octets)));
  return [...names].sort(compareNames);
}

/** Ignores records with empty rdata: they can be parsed for any type (RFC 2136 §2.4), but contain nothing. */
export function recordsOf(section: readonly MessageRecord[], name: Name, type: number): MessageRecord[] {
  return section.filter(
    (record) =>
      record.type === type &&
      record.class === CLASS.IN &&
      record.rdata.length > 0 &&
      foldCase(record.owner) === name,
  );
}

export function rdataOf(records: readonly MessageRecord[]): Uint8Array[] {
  return records.map(({ rdata }) => rdata);
}

export function lowestTtl(records: readonly MessageRecord[]): number {
  return records.reduce((lowest, { ttl }) => Math.min(lowest, ttlOf(ttl)), MAX_TTL);
}

/** RFC 2181 §8. */
function ttlOf(ttl: number): number {
  return ttl > MAX_TTL ? 0 : ttl;
}

function lame(error: string): UselessReply {
  return { kind: 'lame', error };
}

function bad(error: string): UselessReply {
  return { kind: 'bad', error };
}
