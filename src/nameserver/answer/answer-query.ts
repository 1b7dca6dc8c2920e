// Answers queries synchronously: reads the query in place, decides, looks up and writes the answer. Decides everything
// about the message (silence, errors, truncation, options); the zones' data comes from the finder. Allocates no
// objects: the state of a query is kept in fields until the next query.

import { EXTENDED_ERROR } from '../../dns/message/edns.ts';
import { HEADER_OCTETS, OPCODE } from '../../dns/message/header.ts';
import { FLAG } from '../../dns/message/message.ts';
import { RCODE } from '../../dns/message/rcodes.ts';
import { CLASS, TYPE } from '../../dns/type-codes.ts';
import type { ZoneCounts } from '../counts/zone-counts.ts';
import type { AskedMarks } from '../image/find/asked-marks.ts';
import type { CountryTable } from '../image/find/country-table.ts';
import { ImageFinder } from '../image/find/find-in-image.ts';
import { FoldedName } from '../image/find/folded-name.ts';
import { FOUND } from '../image/find/found-kinds.ts';
import { MOST_AHEAD, ReadAhead } from '../image/find/read-ahead.ts';
import type { Image } from '../image/image.ts';
import type { AmplificationLimit } from './amplification-limit.ts';
import { ChaosAnswers } from './chaos-answers.ts';
import { Client, isLoopback } from './client.ts';
import { isSoundSubnet, SUBNET_HEAD_OCTETS } from './client-subnet.ts';
import { Cookies, type CookieVerdict } from './cookies.ts';
import { MAX_UDP_OCTETS, OptWriter } from './opt-writer.ts';
import type { QueryCounters } from './query-counters.ts';
import { Query, readQuery, SLOW } from './read-query.ts';
import { NODATA_BUCKET, type RateDecision, type RateLimit, ZONE_BUCKET } from './response-rate-limit.ts';
import { SectionWriter } from './section-writer.ts';
import { TRANSPORT } from './transports.ts';

/** All settings that an answer depends on, besides the image, the query and its sender. */
export interface AnswerSettings {
  /** Name returned by NSID and `id.server`. */
  readonly nodeName: string;
  /** Version returned by `version.bind`. */
  readonly version: string;
  /** The first secret signs new cookies; all of them are accepted. */
  readonly cookieSecrets: readonly Uint8Array[];
  /** Undefined if response rate limiting is `off`. */
  readonly rateLimit: RateLimit | undefined;
  /** Undefined if the limit on octets is `off`. */
  readonly amplificationLimit: AmplificationLimit | undefined;
  readonly tcpIdleTimeoutMs: number;
  /** Marks unproven zones that receive queries. Undefined if they are not reported. */
  readonly asked?: AskedMarks | undefined;
  /** Maps client addresses to countries. Undefined if every client gets the default edge sets. */
  readonly countries?: CountryTable | undefined;
  /** Counts answers by zone. Undefined if counting is `off`. */
  readonly zoneCounts?: ZoneCounts | undefined;
  /** True if a transfer thread answers the messages for which `answer` returns SLOW_PATH. */
  readonly hasTransfers?: boolean;
}

/** The settings that do not refer to memory: they are equal in all threads. */
export type SharedAnswerSettings = Omit<
  AnswerSettings,
  'rateLimit' | 'amplificationLimit' | 'asked' | 'countries' | 'zoneCounts'
>;

/** Result of `Answerer.answer` for a message that only the transfer thread can answer. */
export const SLOW_PATH = -1;

const MIN_UDP_OCTETS = 512; // RFC 6891 §6.2.3
const MAX_TCP_OCTETS = 65535;

/** The source of the answer's sections. With TRANSFER_THREAD, that thread answers. */
const SOURCE = { NONE: 0, ZONE: 1, CHAOS: 2, TRANSFER_THREAD: 3 } as const;
type Source = (typeof SOURCE)[keyof typeof SOURCE];

export class Answerer {
  /** The time, set by the caller before each batch. */
  nowMs = 0;
  /** The client, set by the caller before each query. */
  readonly client: Client;
  readonly #queries: readonly Query[];
  readonly #names: readonly FoldedName[];
  readonly #ahead: ReadAhead;
  #query: Query;
  readonly #found: ImageFinder;
  readonly #sections: SectionWriter;
  readonly #opt: OptWriter;
  readonly #cookies: Cookies;
  readonly #chaos: ChaosAnswers;
  readonly #rateLimit: RateLimit | undefined;
  readonly #amplificationLimit: AmplificationLimit | undefined;
  readonly #counters: QueryCounters;
  readonly #zoneCounts: ZoneCounts | undefined;
  readonly #hasTransfers: boolean;
  readonly #reportFailure: (error: unknown) => void;
  #input: Uint8Array = new Uint8Array(0);
  #inputView: DataView = new DataView(new ArrayBuffer(0));
  #cookie: CookieVerdict | undefined = undefined;
  #source: Source = SOURCE.NONE;
  #rcode = 0;
  /** Seconds modulo 2^32. Set only for queries with a cookie. */
  #nowSeconds = 0;
  #authoritative = false;
  /** True if everything that the answer requires has been written. */
  #complete = false;

  /** Create the answerer after the snapshot was read: the hash seed of the image's names must be final. */
  constructor(
    image: Image,
    settings: AnswerSettings,
    counters: QueryCounters,
    reportFailure: (error: unknown) => void,
  ) {
    this.#found = new ImageFinder(image, settings.asked, settings.countries);
    this.client = new Client();
    this.#names = Array.from({ length: MOST_AHEAD }, () => new FoldedName(image.header));
    this.#queries = this.#names.map((name) => new Query(name, this.client));
    this.#query = this.#queries[0] as Query;
    this.#ahead = new ReadAhead(image);
    this.#sections = new SectionWriter(image, this.#found);
    this.#cookies = new Cookies(settings.cookieSecrets);
    this.#opt = new OptWriter(settings.nodeName, this.#cookies, settings.tcpIdleTimeoutMs);
    this.#chaos = new ChaosAnswers(settings.nodeName, settings.version);
    this.#rateLimit = settings.rateLimit;
    this.#amplificationLimit = settings.amplificationLimit;
    this.#counters = counters;
    this.#zoneCounts = settings.zoneCounts;
    this.#hasTransfers = settings.hasTransfers === true;
    this.#reportFailure = reportFailure;
  }

  /** The response code of the last answer, with its extended bits. */
  get rcode(): number {
    return this.#rcode;
  }

  /** Number of labels of the zone of the last answer. Undefined if it does not come from a zone. */
  get zoneLabels(): number | undefined {
    return this.#source === SOURCE.ZONE ? this.#found.zone.apexLabels : undefined;
  }

  /**
   * Answers the query of `octets` octets at `at`. Writes the answer to `out` from `outAt`, in at most `room` octets,
   * and returns its length; 0 means no answer, and SLOW_PATH that the transfer thread answers. The caller must have
   * entered its reader slot.
   */
  answer(
    input: Uint8Array,
    at: number,
    octets: number,
    out: Uint8Array,
    outAt: number,
    room: number,
  ): number {
    this.read(0, input, at, octets);
    return this.answerRead(0, out, outAt, room);
  }

  /** Reads query `i` of a group of up to MOST_AHEAD queries. All of them are in the same buffer. */
  read(i: number, input: Uint8Array, at: number, octets: number): void {
    if (input !== this.#input) {
      this.#input = input;
      this.#inputView = new DataView(input.buffer, input.byteOffset, input.byteLength);
    }
    const query = this.#queries[i] as Query;
    query.isIgnored = octets < HEADER_OCTETS || ((input[at + 2] as number) & 0x80) !== 0;
    query.error = undefined;
    if (query.isIgnored) return;
    try {
      readQuery(input, this.#inputView, at, octets, query);
    } catch (error) {
      query.error = error;
    }
  }

  /** Loads what the answers to the first `count` queries of the group need. The caller must have entered its reader slot. */
  load(count: number): void {
    this.#ahead.load(this.#names, count);
  }

  /** Answers query `i` of the group, which must have been read. Otherwise like `answer`. */
  answerRead(i: number, out: Uint8Array, outAt: number, room: number): number {
    const query = this.#queries[i] as Query;
    if (query.isIgnored) {
      this.#counters.ignored++;
      return 0;
    }
    this.#query = query;
    this.#found.names[0] = query.name;
    const octets = query.end - query.start;
    try {
      if (query.error !== undefined) throw query.error;
      if (this.#query.slowPath !== SLOW.NO && this.#hasTransfers && !this.#query.malformed) {
        this.#source = SOURCE.TRANSFER_THREAD;
        return SLOW_PATH;
      }
      if (this.#query.subnetOctets >= 0) this.#judgeSubnet();
      this.#cookie = this.#judgeCookie();
      this.#source = this.#decide();
      if (this.#source === SOURCE.TRANSFER_THREAD) return SLOW_PATH;
      const isLimited = this.#isLimited();
      const limited = isLimited ? this.#limitRate() : 'send';
      if (limited === 'drop') {
        this.#counters.rateDropped++;
        return 0;
      }
      if (limited === 'truncate') this.#counters.rateTruncated++;
      let length = this.#write(out, outAt, room, limited);
      if (isLimited && this.#amplificationLimit !== undefined) {
        const amplified = this.#limitAmplification(octets, length);
        if (amplified === 'drop') return 0;
        if (amplified === 'truncate') length = this.#write(out, outAt, room, amplified);
      }
      const { transport } = this.client;
      this.#counters.countAnswer(transport, this.#query.type, this.#rcode, !this.#complete);
      this.#counters.countTraffic(transport, octets, length, this.#query.ednsBits);
      if (this.#source === SOURCE.ZONE) {
        if (this.#found.isSigned) this.#counters.countSigned(this.#found.proofs.count, !this.#complete);
        if (this.#zoneCounts !== undefined) this.#countZone(this.#zoneCounts);
      }
      return length;
    } catch (error) {
      this.#counters.failed++;
      this.#reportFailure(error);
      this.#source = this.#fail(RCODE.SERVFAIL, -1);
      return writeFailure(this.#input, query.start, out, outAt);
    }
  }

  #countZone(counts: ZoneCounts): void {
    const { idLow, idHigh } = this.#found.zone;
    counts.count(idLow, idHigh, this.#query.type, this.#rcode);
    if (!counts.isSampled()) return;
    const { octets, length } = this.#found.question;
    counts.sample(idLow, idHigh, octets, length);
  }

  /** Without regional answers the option is ignored (RFC 7871 §7.2.1). */
  #judgeSubnet(): void {
    const query = this.#query;
    if (!this.#found.regions.isOn) query.subnetOctets = -1;
    else if (!isSoundSubnet(this.#input, query.subnetAt, query.subnetOctets)) query.malformed = true;
  }

  /** Sets the address that regional answers depend on: the client subnet if the query has one, else the source address. */
  #locate(): void {
    const { client, subnetAt, subnetOctets } = this.#query;
    const { regions } = this.#found;
    if (subnetOctets > SUBNET_HEAD_OCTETS) {
      const isV6 = this.#input[subnetAt + 1] === 2;
      regions.setAsker(this.#input, subnetAt + SUBNET_HEAD_OCTETS, subnetOctets - SUBNET_HEAD_OCTETS, isV6);
    } else regions.setAsker(client.address, client.at, client.octets, client.octets === 16);
    regions.nowMs = this.nowMs;
  }

  #judgeCookie(): CookieVerdict | undefined {
    const query = this.#query;
    if (query.cookieOctets < 0 || query.malformed) return undefined;
    const { cookieAt, cookieOctets } = query;
    const nowSeconds = Math.floor(this.nowMs / 1000) | 0;
    this.#nowSeconds = nowSeconds;
    return this.#cookies.judge(this.#inputView, cookieAt, cookieOctets, query.client, nowSeconds);
  }

  /** Decides the response code and the source of the answer's sections. */
  #decide(): Source {
    const query = this.#query;
    // A query with two OPT records has no valid version, so it gets FORMERR. Nothing else is checked if the version is
    // unknown.
    if (query.version !== 0 && !query.malformed) return this.#fail(RCODE.BADVERS, -1); // RFC 6891 §6.1.3
    if (query.opcode !== OPCODE.QUERY) {
      const isNotify = query.opcode === OPCODE.NOTIFY && this.client.transport === TRANSPORT.HTTPS;
      const isProhibited = query.opcode === OPCODE.UPDATE || isNotify;
      if (isProhibited && !query.malformed) return this.#fail(RCODE.REFUSED, EXTENDED_ERROR.PROHIBITED);
      const isKnown = isProhibited || (this.#hasTransfers && query.slowPath !== SLOW.NO); // and malformed
      return this.#fail(isKnown ? RCODE.FORMERR : RCODE.NOTIMP, -1);
    }
    if (query.malformed) return this.#fail(RCODE.FORMERR, -1);
    if (query.questions === 0) {
      // A query without a question only requests a server cookie (RFC 7873 §5.4).
      if (this.#cookie === undefined) return this.#fail(RCODE.FORMERR, -1);
      return this.#fail(this.#cookie === 'invalid' ? RCODE.BADCOOKIE : RCODE.NOERROR, -1);
    }
    // Without transfers there are no keys. RFC 8945 §5.2.1 requires a TSIG record in the answer, which few clients need.
    if (query.slowPath === SLOW.TSIG) return this.#fail(RCODE.NOTAUTH, -1);
    if (query.class !== CLASS.IN) return this.#decideChaos();
    if (query.type === TYPE.AXFR || query.type === TYPE.IXFR)
      return this.#fail(RCODE.REFUSED, EXTENDED_ERROR.PROHIBITED);
    const found = this.#found;
    this.#locate();
    found.find(query.type, query.dnssecOk);
    if (found.kind >= FOUND.REFUSED) return this.#refuse();
    this.#rcode = found.rcode;
    this.#authoritative = found.authoritative;
    const opt = this.#opt;
    opt.extendedError = -1;
    opt.hasZone = query.zoneVersion;
    if (opt.hasZone) {
      opt.apexLabels = found.zone.apexLabels;
      opt.serial = found.zone.serial;
    }
    return SOURCE.ZONE;
  }

  /**
   * For a zone that did not fit into memory, REFUSED would be wrong: this server is authoritative for it, and another
   * one may serve it. Not Ready (RFC 8914 §4.15) says that this server cannot answer yet, Invalid Data (§4.25) that its
   * copy is too old.
   */
  #refuse(): Source {
    const { kind } = this.#found;
    if (kind === FOUND.NOT_SERVED) return this.#fail(RCODE.SERVFAIL, EXTENDED_ERROR.NOT_READY);
    if (kind === FOUND.EXPIRED) return this.#fail(RCODE.SERVFAIL, EXTENDED_ERROR.INVALID_DATA);
    if (kind === FOUND.PRIVATE) return this.#refusePrivate();
    if (kind === FOUND.FAILED) return this.#fail(RCODE.SERVFAIL, -1);
    return this.#fail(RCODE.REFUSED, EXTENDED_ERROR.NOT_AUTHORITATIVE);
  }

  /** Only peers may query a private zone, and only its SOA. The transfer thread knows them. */
  #refusePrivate(): Source {
    this.#fail(RCODE.REFUSED, EXTENDED_ERROR.PROHIBITED);
    const { type, name } = this.#query;
    const isSoa = type === TYPE.SOA && name.labels === this.#found.zone.apexLabels;
    return isSoa && this.#hasTransfers ? SOURCE.TRANSFER_THREAD : SOURCE.NONE;
  }

  #decideChaos(): Source {
    const query = this.#query;
    const isKnown = query.class === CLASS.CH && query.type === TYPE.TXT && this.#chaos.find(query.name);
    if (!isKnown) return this.#fail(RCODE.REFUSED, EXTENDED_ERROR.NOT_AUTHORITATIVE);
    this.#fail(RCODE.NOERROR, -1);
    return SOURCE.CHAOS;
  }

  /** Prepares an answer without records. `extendedError` is -1 for no EDE. */
  #fail(rcode: number, extendedError: number): Source {
    this.#rcode = rcode;
    this.#authoritative = false;
    this.#opt.extendedError = extendedError;
    this.#opt.hasZone = false;
    return SOURCE.NONE;
  }

  /** Clients on loopback or a connection, and those with a valid server cookie, are never limited. */
  #isLimited(): boolean {
    const { transport, address, at, octets } = this.client;
    if (transport !== TRANSPORT.UDP || this.#cookie === 'fresh' || this.#cookie === 'renew') return false;
    return !isLoopback(address, at, octets);
  }

  #limitRate(): RateDecision {
    const rateLimit = this.#rateLimit;
    if (rateLimit === undefined) return 'send';
    const found = this.#found;
    let name = 0;
    let type = ZONE_BUCKET;
    if (this.#source === SOURCE.CHAOS) {
      name = found.question.hashes[0] as number;
      type = this.#query.type;
    } else if (this.#source === SOURCE.ZONE) {
      const isOwnBucket = found.kind === FOUND.ANSWER || found.kind === FOUND.NODATA;
      name = isOwnBucket ? found.sourceHash() : found.apexHash();
      // All NODATA answers for a name are equal, so other types must not open new buckets.
      if (isOwnBucket) type = found.kind === FOUND.NODATA ? NODATA_BUCKET : this.#query.type;
    }
    return rateLimit.decide(this.client, name, type, this.nowMs | 0);
  }

  /** Applies the amplification limit to the answer of `answered` octets that has been written. */
  #limitAmplification(asked: number, answered: number): RateDecision {
    const limit = this.#amplificationLimit as AmplificationLimit;
    const truncated = this.#query.questionEnd + this.#opt.octets;
    const nowMs = this.nowMs | 0;
    const decision = limit.decide(this.client, asked, answered, truncated, nowMs);
    if (decision === 'drop') this.#counters.octetsDropped++;
    else if (decision === 'truncate') this.#counters.octetsTruncated++;
    return decision;
  }

  #write(out: Uint8Array, outAt: number, room: number, limited: RateDecision): number {
    const query = this.#query;
    const isStream = this.client.transport !== TRANSPORT.UDP;
    const { message } = this.#sections;
    const opt = this.#opt;
    const maxOctets = isStream ? MAX_TCP_OCTETS : maxUdpOctets(query.udpPayloadSize);
    message.begin(out, outAt, maxOctets < room ? maxOctets : room);
    message.at += HEADER_OCTETS;
    message.copyFrom(this.#inputView, query.start + HEADER_OCTETS, query.questionEnd - HEADER_OCTETS);
    this.#sections.begin();
    opt.cookie = this.#cookie;
    opt.plan(query, message.limit - message.at);
    message.limit -= opt.octets;
    this.#complete = limited === 'send' && this.#writeSections();
    message.limit += opt.octets;
    opt.scope =
      query.subnetOctets > SUBNET_HEAD_OCTETS && this.#source === SOURCE.ZONE ? this.#found.regions.scope : 0;
    if (query.edns) opt.write(message, query, this.#inputView, this.#rcode, this.#nowSeconds);
    this.#writeHeader(message.view, outAt);
    return message.at - outAt;
  }

  /** Returns false if a required part of the answer did not fit. */
  #writeSections(): boolean {
    if (this.#source === SOURCE.ZONE) return this.#sections.writeFound(this.#query.type);
    if (this.#source === SOURCE.CHAOS) return this.#sections.writeRecord(this.#chaos.record);
    return true;
  }

  #writeHeader(view: DataView, at: number): void {
    const query = this.#query;
    const { answers, authorities, additionals } = this.#sections;
    const flags =
      FLAG.QR |
      (query.opcode << 11) |
      (this.#authoritative ? FLAG.AA : 0) |
      (this.#complete ? 0 : FLAG.TC) |
      ((this.#input[query.start + 2] as number) & 1 ? FLAG.RD : 0) | // AD and CD stay clear: RFC 4035 §3.1.6
      (this.#rcode & 15);
    const questions = query.questionEnd > HEADER_OCTETS ? 1 : 0;
    view.setUint16(at, this.#inputView.getUint16(query.start)); // the id
    view.setInt32(at + 2, (flags << 16) | questions);
    view.setInt32(at + 6, (answers << 16) | authorities);
    view.setUint16(at + 10, additionals + (query.edns ? 1 : 0));
  }
}

/** The part of an answerer that the transports use. */
export type PacketAnswerer = Pick<Answerer, 'nowMs' | 'client' | 'answer'> &
  Partial<Pick<Answerer, 'rcode' | 'zoneLabels'>>;

/** The part of Answerer that transports use if they receive several queries at a time. */
export type GroupAnswerer = PacketAnswerer & Pick<Answerer, 'read' | 'load' | 'answerRead'>;

function maxUdpOctets(payloadSize: number): number {
  if (payloadSize <= MIN_UDP_OCTETS) return MIN_UDP_OCTETS;
  return payloadSize < MAX_UDP_OCTETS ? payloadSize : MAX_UDP_OCTETS;
}

/** Answers SERVFAIL to a query that caused an unhandled error, so that the client immediately tries another server. */
export function writeFailure(input: Uint8Array, at: number, out: Uint8Array, outAt: number): number {
  for (let i = 0; i < HEADER_OCTETS; i++) out[outAt + i] = 0;
  out[outAt] = input[at] as number;
  out[outAt + 1] = input[at + 1] as number;
  out[outAt + 2] = 0x80 | ((input[at + 2] as number) & 0x79); // opcode and RD
  out[outAt + 3] = RCODE.SERVFAIL;
  return HEADER_OCTETS;
}
