// A query's octets in, the answer's octets out, synchronously: read in place, find, write. Decides everything that is
// about the message and not about the zones: which queries get silence, an error, a truncated answer, which options.

import { EXTENDED_ERROR } from '../dns/edns.ts';
import { HEADER_OCTETS } from '../dns/message-writer.ts';
import { type Name, parentOf, parseName, wildcardBelow } from '../dns/name.ts';
import { RCODE } from '../dns/rcodes.ts';
import { CLASS, TYPE } from '../dns/type-codes.ts';
import { findAnswer } from '../zone/find-answer.ts';
import type { RecordSet, Zone, Zones } from '../zone/zone.ts';
import { type Client, isLoopback } from './client.ts';
import type { CookieVerdict } from './cookies.ts';
import type { QueryCounters } from './query-counters.ts';
import { NODATA_BUCKET, type RateLimit, ZONE_BUCKET } from './rate-limit.ts';
import { Query, readQuery } from './read-query.ts';
import { type OptionSources, type Reply, writeReply } from './write-reply.ts';

/** All that an answer depends on beside the query and its sender. */
export interface ServedNode extends OptionSources {
  readonly zones: Zones;
  /** For `version.bind`. */
  readonly version: string;
  /** Undefined: `off`. */
  readonly rateLimit: RateLimit | undefined;
  readonly counters: QueryCounters;
  nowMs(): number;
  /** Told of a bug that a query met. */
  reportFailure(error: unknown): void;
}

const OPCODE_QUERY = 0;

const query = new Query();

/**
 * Writes the answer into `out` and returns its length; 0 is silence. `out` should hold MAX_UDP_OCTETS or
 * MAX_TCP_OCTETS: a shorter one limits the answer.
 */
export function answerQuery(bytes: Uint8Array, out: Uint8Array, client: Client, node: ServedNode): number {
  if (bytes.length < HEADER_OCTETS || ((bytes[2] as number) & 0x80) !== 0) {
    node.counters.ignored++;
    return 0;
  }
  try {
    return answer(bytes, out, client, node);
  } catch (error) {
    node.counters.failed++;
    node.reportFailure(error);
    return answerFailure(bytes, out);
  }
}

function answer(bytes: Uint8Array, out: Uint8Array, client: Client, node: ServedNode): number {
  readQuery(bytes, query);
  const nowMs = node.nowMs();
  const cookie = judgeCookie(client, node, nowMs);
  const reply = decide(cookie, node);
  const limited = limitRate(reply, cookie, client, node, nowMs);
  if (limited === 'drop') {
    node.counters.rateDropped++;
    return 0;
  }
  if (limited === 'truncate') node.counters.rateTruncated++;
  const length = writeReply(query, reply, limited === 'truncate', cookie, out, client, node, nowMs);
  node.counters.countAnswer(client.transport, query.type, reply.rcode, ((out[2] as number) & 0x02) !== 0);
  return length;
}

/** The answer to a query that met a bug: SERVFAIL, so that the client asks another server at once. */
function answerFailure(bytes: Uint8Array, out: Uint8Array): number {
  out.fill(0, 0, HEADER_OCTETS);
  out[0] = bytes[0] as number;
  out[1] = bytes[1] as number;
  out[2] = 0x80 | ((bytes[2] as number) & 0x79); // opcode and RD
  out[3] = RCODE.SERVFAIL;
  return HEADER_OCTETS;
}

function judgeCookie(client: Client, node: ServedNode, nowMs: number): CookieVerdict | undefined {
  if (query.cookieOctets < 0 || query.malformed) return undefined;
  const nowSeconds = Math.floor(nowMs / 1000);
  return node.cookies.judge(query.bytes, query.cookieAt, query.cookieOctets, client.address, nowSeconds);
}

function decide(cookie: CookieVerdict | undefined, node: ServedNode): Reply {
  // Two OPT records are no version; everything else about an unknown version is not for us to judge.
  if (query.version !== 0 && !query.malformed) return BADVERS; // RFC 6891 §6.1.3
  if (query.opcode !== OPCODE_QUERY) return NOTIMP;
  if (query.malformed) return FORMERR;
  if (query.questions === 0) {
    // RFC 7873 §5.4: asks for nothing but a server cookie.
    if (cookie === undefined) return FORMERR;
    return cookie === 'invalid' ? BADCOOKIE : EMPTY;
  }
  if (query.class === CLASS.CH) return chaosReply(node);
  if (query.class !== CLASS.IN) return NOT_AUTHORITATIVE;
  if (query.type === TYPE.AXFR || query.type === TYPE.IXFR) return TRANSFER_PROHIBITED;
  const found = findAnswer(node.zones, query.name, query.type);
  return found.kind === 'refused' ? NOT_AUTHORITATIVE : { ...found, class: CLASS.IN };
}

function errorReply(rcode: number, extendedError?: number): Reply {
  return {
    kind: 'error',
    rcode,
    authoritative: false,
    answer: [],
    authority: [],
    glue: [],
    additional: [],
    class: CLASS.IN,
    ...(extendedError === undefined ? {} : { extendedError }),
  };
}

const EMPTY = errorReply(RCODE.NOERROR);
const FORMERR = errorReply(RCODE.FORMERR);
const NOTIMP = errorReply(RCODE.NOTIMP);
const BADVERS = errorReply(RCODE.BADVERS);
const BADCOOKIE = errorReply(RCODE.BADCOOKIE);
const NOT_AUTHORITATIVE = errorReply(RCODE.REFUSED, EXTENDED_ERROR.NOT_AUTHORITATIVE);
const TRANSFER_PROHIBITED = errorReply(RCODE.REFUSED, EXTENDED_ERROR.PROHIBITED);

const NODE_NAMES: readonly Name[] = [parseName('id.server.'), parseName('hostname.bind.')]; // RFC 4892
const VERSION_NAMES: readonly Name[] = [parseName('version.bind.'), parseName('version.server.')];

function chaosReply(node: ServedNode): Reply {
  if (query.type !== TYPE.TXT) return NOT_AUTHORITATIVE;
  const isNodeName = NODE_NAMES.includes(query.name);
  if (!isNodeName && !VERSION_NAMES.includes(query.name)) return NOT_AUTHORITATIVE;
  const text = Buffer.from(isNodeName ? node.nodeName : node.version).subarray(0, 255);
  const rdata = Buffer.concat([Buffer.of(text.length), text]);
  const set: RecordSet = { owner: query.name, type: TYPE.TXT, ttl: 0, rdata: [rdata] };
  return { ...EMPTY, kind: 'answer', answer: [set], class: CLASS.CH };
}

/** Loopback, TCP and clients that proved their address are never limited. */
function limitRate(
  reply: Reply,
  cookie: CookieVerdict | undefined,
  client: Client,
  node: ServedNode,
  nowMs: number,
): 'send' | 'truncate' | 'drop' {
  if (node.rateLimit === undefined || client.transport === 'tcp') return 'send';
  if (cookie === 'fresh' || cookie === 'renew' || isLoopback(client.address)) return 'send';
  const isOwnBucket = reply.kind === 'answer' || reply.kind === 'nodata';
  if (!isOwnBucket) return node.rateLimit.decide(client.address, reply.zone?.apex ?? '', ZONE_BUCKET, nowMs);
  const name = reply.zone === undefined ? query.name : sourceName(reply.zone, query.name);
  // All NODATA answers of a name are one and the same: asking for other types must not open other buckets.
  const type = reply.kind === 'nodata' ? NODATA_BUCKET : query.type;
  return node.rateLimit.decide(client.address, name, type, nowMs);
}

/** The name itself, or the `*` below its closest encloser: whoever invents names under a wildcard has one bucket. */
function sourceName(zone: Zone, name: Name): Name {
  if (zone.nodes.has(name)) return name;
  let encloser = name;
  while (encloser !== zone.apex && !zone.nodes.has(encloser)) encloser = parentOf(encloser);
  return wildcardBelow(encloser) ?? encloser;
}
