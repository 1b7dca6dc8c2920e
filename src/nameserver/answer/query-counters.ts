// Query counters of a node. Each thread counts in a buffer of its own in shared memory, without locks. The metrics
// export the sum.

import { COUNTED_TYPES, countedIndex } from '../counts/counted-types.ts';
import { TRANSPORTS, type Transport, type TransportIndex } from './transports.ts';

const COUNTED_RCODES = 24; // up to BADCOOKIE
/** Upper bounds of the latency histogram's buckets. */
export const LATENCY_BOUNDS_SECONDS: readonly number[] = [
  0.000_005, 0.000_01, 0.000_02, 0.000_05, 0.000_1, 0.000_2, 0.000_5, 0.001, 0.005, 0.02, 0.1,
];

/** Upper bounds of the size histograms' buckets: the powers of two from 16 on. Messages have 12 to 65,535 octets. */
export const OCTET_BOUNDS: readonly number[] = Array.from({ length: 13 }, (_, i) => 16 << i);
/** `Math.clz32` of the largest size in the first bucket, less 1. */
const FIRST_BUCKET_ZEROS = 28;

// Positions of the single counters, followed by the tables.
const RATE_DROPPED = 0;
const RATE_TRUNCATED = 1;
const IGNORED = 2;
const FAILED = 3;
const UNSENT = 4;
const TCP_REFUSED = 5;
const TCP_EXPIRED = 6;
const LATENCY_SUM = 7;
const TRUNCATED = 8;
const LATENCY = TRUNCATED + TRANSPORTS.length;
const ANSWERS = LATENCY + LATENCY_BOUNDS_SECONDS.length + 1;
const OCTETS_DROPPED = ANSWERS + TRANSPORTS.length * COUNTED_TYPES.length * COUNTED_RCODES;
const OCTETS_TRUNCATED = OCTETS_DROPPED + 1;
const TCP_UNREAD = OCTETS_DROPPED + 2;
const TCP_SLOWED = OCTETS_DROPPED + 3;
const SIGNED = OCTETS_DROPPED + 4;
const SIGNED_TRUNCATED = OCTETS_DROPPED + 5;
const PROOFS = OCTETS_DROPPED + 6;
const SAMPLES_LIMITED = OCTETS_DROPPED + 7;
const SAMPLES_LOST = OCTETS_DROPPED + 8;
/** For each combination of EDNS_BIT. */
const EDNS = OCTETS_DROPPED + 9;
const EDNS_COMBINATIONS = 256;
/** For each transport: the buckets and the sum of the queries, then of the answers. */
const OCTETS = EDNS + EDNS_COMBINATIONS;
const OCTET_BUCKETS = OCTET_BOUNDS.length;
const OCTET_NUMBERS = OCTET_BUCKETS + 1;
const NUMBERS = OCTETS + TRANSPORTS.length * 2 * OCTET_NUMBERS;

/** Properties of a query's OPT record, counted in any combination. */
export const EDNS_BIT = {
  EDNS: 1,
  DO: 2,
  COOKIE: 4,
  NSID: 8,
  ECS: 16,
  KEEPALIVE: 32,
  PADDING: 64,
  ZONEVERSION: 128,
} as const;

/** Numbers of messages by size. */
interface OctetCounts {
  readonly transport: Transport;
  /** Messages per bucket of OCTET_BOUNDS. */
  readonly buckets: Float64Array;
  readonly sum: number;
}

export class QueryCounters {
  static readonly BYTES = NUMBERS * 8;
  readonly buffer: SharedArrayBuffer;
  readonly #numbers: Float64Array;

  /** @param buffer has QueryCounters.BYTES bytes; by default the counters get a buffer of their own and start at 0 */
  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(QueryCounters.BYTES)) {
    this.buffer = buffer;
    this.#numbers = new Float64Array(buffer, 0, NUMBERS);
  }

  /** Answers dropped by response rate limiting. */
  get rateDropped(): number {
    return this.#numbers[RATE_DROPPED] as number;
  }
  set rateDropped(count: number) {
    this.#numbers[RATE_DROPPED] = count;
  }

  /** Answers truncated (TC) by response rate limiting. */
  get rateTruncated(): number {
    return this.#numbers[RATE_TRUNCATED] as number;
  }
  set rateTruncated(count: number) {
    this.#numbers[RATE_TRUNCATED] = count;
  }

  /** Answers dropped by the amplification limit. */
  get octetsDropped(): number {
    return this.#numbers[OCTETS_DROPPED] as number;
  }
  set octetsDropped(count: number) {
    this.#numbers[OCTETS_DROPPED] = count;
  }

  /** Answers truncated (TC) by the amplification limit. */
  get octetsTruncated(): number {
    return this.#numbers[OCTETS_TRUNCATED] as number;
  }
  set octetsTruncated(count: number) {
    this.#numbers[OCTETS_TRUNCATED] = count;
  }

  /** Packets without an answer: shorter than a header, or responses. */
  get ignored(): number {
    return this.#numbers[IGNORED] as number;
  }
  set ignored(count: number) {
    this.#numbers[IGNORED] = count;
  }

  /** Queries that caused an unhandled error and were answered SERVFAIL. */
  get failed(): number {
    return this.#numbers[FAILED] as number;
  }
  set failed(count: number) {
    this.#numbers[FAILED] = count;
  }

  /** UDP answers that the system refused to send, or that were dropped because the send queue was too long. */
  get unsent(): number {
    return this.#numbers[UNSENT] as number;
  }
  set unsent(count: number) {
    this.#numbers[UNSENT] = count;
  }

  /** TCP connections refused by a limit. */
  get tcpRefused(): number {
    return this.#numbers[TCP_REFUSED] as number;
  }
  set tcpRefused(count: number) {
    this.#numbers[TCP_REFUSED] = count;
  }

  /** TCP connections closed by a limit. */
  get tcpExpired(): number {
    return this.#numbers[TCP_EXPIRED] as number;
  }
  set tcpExpired(count: number) {
    this.#numbers[TCP_EXPIRED] = count;
  }

  /** TCP connections closed because the client left too many answers unread. */
  get tcpUnread(): number {
    return this.#numbers[TCP_UNREAD] as number;
  }
  set tcpUnread(count: number) {
    this.#numbers[TCP_UNREAD] = count;
  }

  /** Number of times that a TCP client sent queries too fast and was delayed. */
  get tcpSlowed(): number {
    return this.#numbers[TCP_SLOWED] as number;
  }
  set tcpSlowed(count: number) {
    this.#numbers[TCP_SLOWED] = count;
  }

  /** Answers that were not sampled because the thread had sampled too many. */
  get samplesLimited(): number {
    return this.#numbers[SAMPLES_LIMITED] as number;
  }
  set samplesLimited(count: number) {
    this.#numbers[SAMPLES_LIMITED] = count;
  }

  /** Samples that were dropped because the observing thread was too slow. */
  get samplesLost(): number {
    return this.#numbers[SAMPLES_LOST] as number;
  }
  set samplesLost(count: number) {
    this.#numbers[SAMPLES_LOST] = count;
  }

  get latencySumSeconds(): number {
    return this.#numbers[LATENCY_SUM] as number;
  }

  /** Answers per latency bucket. The last bucket has no upper bound. */
  get latency(): Float64Array {
    return this.#numbers.subarray(LATENCY, ANSWERS);
  }

  /** Answers with TC, by transport. */
  get truncated(): Float64Array {
    return this.#numbers.subarray(TRUNCATED, LATENCY);
  }

  countAnswer(transport: TransportIndex, type: number, rcode: number, truncated: boolean): void {
    const numbers = this.#numbers;
    const at = ANSWERS + (transport * COUNTED_TYPES.length + countedIndex(type)) * COUNTED_RCODES + rcode;
    numbers[at] = (numbers[at] as number) + 1;
    if (truncated) numbers[TRUNCATED + transport] = (numbers[TRUNCATED + transport] as number) + 1;
  }

  /** Counts the octets of a query and of its answer, and the EDNS_BITs of the query. */
  countTraffic(transport: TransportIndex, asked: number, answered: number, ednsBits: number): void {
    const numbers = this.#numbers;
    const queries = OCTETS + transport * 2 * OCTET_NUMBERS;
    const answers = queries + OCTET_NUMBERS;
    const askedAt = queries + FIRST_BUCKET_ZEROS - Math.clz32(asked - 1);
    const answeredAt = answers + FIRST_BUCKET_ZEROS - Math.clz32(answered - 1);
    numbers[askedAt] = (numbers[askedAt] as number) + 1;
    numbers[answeredAt] = (numbers[answeredAt] as number) + 1;
    numbers[queries + OCTET_BUCKETS] = (numbers[queries + OCTET_BUCKETS] as number) + asked;
    numbers[answers + OCTET_BUCKETS] = (numbers[answers + OCTET_BUCKETS] as number) + answered;
    numbers[EDNS + ednsBits] = (numbers[EDNS + ednsBits] as number) + 1;
  }

  /** Answered queries by property of their OPT record. */
  get edns(): Readonly<Record<Lowercase<keyof typeof EDNS_BIT>, number>> {
    const count = (bit: number) => {
      let sum = 0;
      for (let i = 0; i < EDNS_COMBINATIONS; i++) if (i & bit) sum += this.#numbers[EDNS + i] as number;
      return sum;
    };
    return {
      edns: count(EDNS_BIT.EDNS),
      do: count(EDNS_BIT.DO),
      cookie: count(EDNS_BIT.COOKIE),
      nsid: count(EDNS_BIT.NSID),
      ecs: count(EDNS_BIT.ECS),
      keepalive: count(EDNS_BIT.KEEPALIVE),
      padding: count(EDNS_BIT.PADDING),
      zoneversion: count(EDNS_BIT.ZONEVERSION),
    };
  }

  /** Sizes of the answered queries, or of their answers, by transport. */
  octets(of: 'queries' | 'answers'): OctetCounts[] {
    return TRANSPORTS.map((transport, t) => {
      const at = OCTETS + (2 * t + (of === 'queries' ? 0 : 1)) * OCTET_NUMBERS;
      const end = at + OCTET_BUCKETS;
      return { transport, buckets: this.#numbers.subarray(at, end), sum: this.#numbers[end] as number };
    });
  }

  /** Counts a signed answer, in addition to `countAnswer`, and its NSEC or NSEC3 sets. */
  countSigned(proofs: number, truncated: boolean): void {
    const numbers = this.#numbers;
    numbers[SIGNED] = (numbers[SIGNED] as number) + 1;
    numbers[PROOFS] = (numbers[PROOFS] as number) + proofs;
    if (truncated) numbers[SIGNED_TRUNCATED] = (numbers[SIGNED_TRUNCATED] as number) + 1;
  }

  /**
   * Answers from signed zones to clients that set DO, how many of them had TC, and the number of NSEC and NSEC3 sets in them.
   */
  get signed(): { readonly answers: number; readonly truncated: number; readonly proofs: number } {
    const numbers = this.#numbers;
    return {
      answers: numbers[SIGNED] as number,
      truncated: numbers[SIGNED_TRUNCATED] as number,
      proofs: numbers[PROOFS] as number,
    };
  }

  /** Records `answers` answers that took `seconds` each. */
  observeLatency(seconds: number, answers = 1): void {
    const numbers = this.#numbers;
    let bucket = 0;
    while (bucket < LATENCY_BOUNDS_SECONDS.length && seconds > (LATENCY_BOUNDS_SECONDS[bucket] as number))
      bucket++;
    numbers[LATENCY + bucket] = (numbers[LATENCY + bucket] as number) + answers;
    numbers[LATENCY_SUM] = (numbers[LATENCY_SUM] as number) + seconds * answers;
  }

  /** Returns the numbers of answers, and of answers and connections that were withheld, closed or could not be sent. */
  totals(): { answered: number; dropped: number } {
    const answered = this.#numbers.subarray(ANSWERS, OCTETS_DROPPED).reduce((sum, count) => sum + count, 0);
    const dropped =
      this.rateDropped +
      this.octetsDropped +
      this.unsent +
      this.tcpRefused +
      this.tcpExpired +
      this.tcpUnread;
    return { answered, dropped };
  }

  /** All answer counts that are not zero. */
  *answerCounts(): Generator<{ transport: Transport; type: string; rcode: number; count: number }> {
    for (const [t, transport] of TRANSPORTS.entries()) {
      for (const [i, type] of COUNTED_TYPES.entries()) {
        for (let rcode = 0; rcode < COUNTED_RCODES; rcode++) {
          const count = this.#numbers[
            ANSWERS + (t * COUNTED_TYPES.length + i) * COUNTED_RCODES + rcode
          ] as number;
          if (count > 0) yield { transport, type, rcode, count };
        }
      }
    }
  }

  add(other: QueryCounters): void {
    for (let i = 0; i < NUMBERS; i++) {
      this.#numbers[i] = (this.#numbers[i] as number) + (other.#numbers[i] as number);
    }
  }
}

/** Returns the current sum of the counters. */
export function sumCounters(counters: Iterable<QueryCounters>): QueryCounters {
  const sum = new QueryCounters();
  for (const one of counters) sum.add(one);
  return sum;
}
