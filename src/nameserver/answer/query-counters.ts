// Query counters of a node. Each thread counts in a buffer of its own in shared memory, without locks. The metrics
// export the sum.

import { COUNTED_TYPES, countedIndex } from '../counts/counted-types.ts';
import { TRANSPORTS, type Transport, type TransportIndex } from './transports.ts';

const COUNTED_RCODES = 24; // up to BADCOOKIE
/** Upper bounds of the latency histogram's buckets. */
export const LATENCY_BOUNDS_SECONDS: readonly number[] = [
  0.000_005, 0.000_01, 0.000_02, 0.000_05, 0.000_1, 0.000_2, 0.000_5, 0.001, 0.005, 0.02, 0.1,
];

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
const NUMBERS = OCTETS_DROPPED + 9;

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
