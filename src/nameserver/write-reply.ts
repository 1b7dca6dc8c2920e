// Writes the answer to a query: header, the question as it came, whole record sets as far as they fit, the OPT record.

import { DNSSEC_OK, EDNS_OPTION, OPT_OCTETS } from '../dns/edns.ts';
import { FLAG } from '../dns/message.ts';
import { HEADER_OCTETS, MessageWriter } from '../dns/message-writer.ts';
import { labelCount } from '../dns/name.ts';
import { TYPE } from '../dns/type-codes.ts';
import type { Answer } from '../zone/find-answer.ts';
import type { RecordSet, Zone } from '../zone/zone.ts';
import type { Client } from './client.ts';
import { CLIENT_COOKIE_OCTETS, type Cookies, type CookieVerdict, SERVER_COOKIE_OCTETS } from './cookies.ts';
import type { Query } from './read-query.ts';

/** The most that an answer over UDP takes, and what we tell that we receive. */
export const MAX_UDP_OCTETS = 1232;
const MIN_UDP_OCTETS = 512; // RFC 6891 §6.2.3
export const MAX_TCP_OCTETS = 65535;

/** What is to be written: what was found, or an error. */
export type Reply = Omit<Answer, 'kind'> & {
  readonly kind: Answer['kind'] | 'error';
  readonly class: number;
  readonly extendedError?: number;
};

/** What the options of an answer are made of. */
export interface OptionSources {
  readonly nodeName: string;
  readonly cookies: Cookies;
  readonly tcpIdleTimeoutMs: number;
}

const writer = new MessageWriter();

/** Writes into `out` and returns the length. `withheld` leaves all sections out and sets TC (rate limit). */
export function writeReply(
  query: Query,
  reply: Reply,
  withheld: boolean,
  cookie: CookieVerdict | undefined,
  out: Uint8Array,
  client: Client,
  sources: OptionSources,
  nowMs: number,
): number {
  writer.begin(out, maxOctets(query, client));
  if (query.questionEnd > HEADER_OCTETS) writer.adoptQuestion(query.bytes, query.questionEnd, query.name);
  const options = query.edns ? planOptions(query, reply, cookie, client, sources) : NO_OPTIONS;
  writer.limit -= options.octets;
  const complete = !withheld && writeSections(reply);
  writer.limit += options.octets;
  if (query.edns) writeOpt(query, reply, options, cookie, client, sources, nowMs);
  const flags =
    FLAG.QR |
    (query.opcode << 11) |
    (reply.authoritative ? FLAG.AA : 0) |
    (complete ? 0 : FLAG.TC) |
    (((query.bytes[2] as number) & 0x01) !== 0 ? FLAG.RD : 0) | // AD and CD stay clear: RFC 4035 §3.1.6
    (reply.rcode & 15);
  out[0] = query.bytes[0] as number;
  out[1] = query.bytes[1] as number;
  out[2] = flags >> 8;
  out[3] = flags;
  return writer.length;
}

function maxOctets(query: Query, client: Client): number {
  if (client.transport === 'tcp') return MAX_TCP_OCTETS;
  return Math.min(Math.max(query.udpPayloadSize, MIN_UDP_OCTETS), MAX_UDP_OCTETS);
}

/** Writes whole record sets until one does not fit; false when that one was required (RFC 2181 §9). */
function writeSections(reply: Reply): boolean {
  if (!writeSection(1, reply.answer, reply.class, 0)) return false;
  if (!writeSection(2, reply.authority, reply.class, 0)) return false;
  if (reply.glue.length === 0 && reply.additional.length === 0) return true;
  if (!writeSection(3, reply.glue, reply.class, 0)) return false; // RFC 9471 §3.1
  let glue = 0;
  for (const set of reply.glue) glue += set.rdata.length;
  writeSection(3, reply.additional, reply.class, glue);
  return true;
}

/** `before` records stand in the section already. */
function writeSection(
  section: 1 | 2 | 3,
  sets: readonly RecordSet[],
  recordClass: number,
  before: number,
): boolean {
  let count = before;
  for (const set of sets) {
    const start = writer.length;
    for (const rdata of set.rdata) {
      if (!writer.writeRecord(set.owner, 'folded', set.type, recordClass, set.ttl, rdata)) {
        writer.takeBack(start);
        writer.setCount(section, count);
        return false;
      }
    }
    count += set.rdata.length;
  }
  if (count > 0) writer.setCount(section, count);
  return true;
}

interface PlannedOptions {
  /** Of the whole OPT record. */
  readonly octets: number;
  readonly nsid: Uint8Array | undefined;
  readonly extendedError: number | undefined;
  readonly zone: Zone | undefined;
  readonly tcpKeepalive: boolean;
}

const NO_OPTIONS: PlannedOptions = {
  octets: 0,
  nsid: undefined,
  extendedError: undefined,
  zone: undefined,
  tcpKeepalive: false,
};
const PLAIN_OPT: PlannedOptions = { ...NO_OPTIONS, octets: OPT_OCTETS };

const COOKIE_OCTETS = 4 + CLIENT_COOKIE_OCTETS + SERVER_COOKIE_OCTETS;
const EXTENDED_ERROR_OCTETS = 4 + 2;
const ZONEVERSION_OCTETS = 4 + 6;
const TCP_KEEPALIVE_OCTETS = 4 + 2;
const SOA_SERIAL = 0; // RFC 9660 §5.2

/** Which options the answer carries, and their size, so that the sections leave the place. */
function planOptions(
  query: Query,
  reply: Reply,
  cookie: CookieVerdict | undefined,
  client: Client,
  sources: OptionSources,
): PlannedOptions {
  if (query.malformed || query.version !== 0) return PLAIN_OPT;
  const zone = query.zoneVersion ? reply.zone : undefined;
  const tcpKeepalive = query.tcpKeepalive && client.transport === 'tcp'; // RFC 7828 §3.3.1: ignored over UDP
  let octets = OPT_OCTETS;
  if (cookie !== undefined) octets += COOKIE_OCTETS;
  if (reply.extendedError !== undefined) octets += EXTENDED_ERROR_OCTETS;
  if (zone !== undefined) octets += ZONEVERSION_OCTETS;
  if (tcpKeepalive) octets += TCP_KEEPALIVE_OCTETS;
  if (octets === OPT_OCTETS && !query.nsid) return PLAIN_OPT;
  let nsid = query.nsid ? Buffer.from(sources.nodeName) : undefined;
  // A long question and a long name may be too much for 512 octets: the name is the one to leave.
  if (nsid !== undefined && writer.length + octets + 4 + nsid.length > writer.limit) nsid = undefined;
  if (nsid !== undefined) octets += 4 + nsid.length;
  return { octets, nsid, extendedError: reply.extendedError, zone, tcpKeepalive };
}

function writeOpt(
  query: Query,
  reply: Reply,
  options: PlannedOptions,
  cookie: CookieVerdict | undefined,
  client: Client,
  sources: OptionSources,
  nowMs: number,
): void {
  writer.bytes[writer.length++] = 0; // the root owns it
  writer.write16(TYPE.OPT);
  writer.write16(MAX_UDP_OCTETS);
  writer.write16((reply.rcode >> 4) << 8); // and version 0
  writer.write16(query.dnssecOk ? DNSSEC_OK : 0); // RFC 3225 §3: copied
  writer.write16(options.octets - OPT_OCTETS);
  writer.setCount(3, (((writer.bytes[10] as number) << 8) | (writer.bytes[11] as number)) + 1);
  if (options.octets === OPT_OCTETS) return;
  if (cookie !== undefined) writeCookie(query, cookie, client, sources, nowMs);
  if (options.extendedError !== undefined) {
    writeOptionHead(EDNS_OPTION.EXTENDED_ERROR, 2);
    writer.write16(options.extendedError);
  }
  if (options.zone !== undefined) {
    writeOptionHead(EDNS_OPTION.ZONEVERSION, 6);
    writer.write16((labelCount(options.zone.apex) << 8) | SOA_SERIAL);
    writer.write32(options.zone.serial);
  }
  if (options.tcpKeepalive) {
    writeOptionHead(EDNS_OPTION.TCP_KEEPALIVE, 2);
    writer.write16(Math.min(0xffff, Math.floor(sources.tcpIdleTimeoutMs / 100)));
  }
  if (options.nsid !== undefined) {
    writeOptionHead(EDNS_OPTION.NSID, options.nsid.length);
    writer.writeOctets(options.nsid);
  }
}

function writeOptionHead(code: number, octets: number): void {
  writer.write16(code);
  writer.write16(octets);
}

/** The client's cookie, and a server cookie: the same while it is fresh, else a new one (RFC 9018 §4.3). */
function writeCookie(
  query: Query,
  cookie: CookieVerdict,
  client: Client,
  sources: OptionSources,
  nowMs: number,
): void {
  const octets = CLIENT_COOKIE_OCTETS + SERVER_COOKIE_OCTETS;
  writeOptionHead(EDNS_OPTION.COOKIE, octets);
  const at = query.cookieAt;
  const kept = cookie === 'fresh' ? octets : CLIENT_COOKIE_OCTETS;
  for (let i = 0; i < kept; i++) writer.bytes[writer.length + i] = query.bytes[at + i] as number;
  if (cookie !== 'fresh') {
    const nowSeconds = Math.floor(nowMs / 1000);
    const outAt = writer.length + CLIENT_COOKIE_OCTETS;
    sources.cookies.sign(query.bytes, at, client.address, nowSeconds, writer.bytes, outAt);
  }
  writer.length += octets;
}
