// What a node counts for each query: plain numbers in typed arrays, so that counting costs next to nothing and can
// move to shared memory. `metrics` exports them.

import { TYPE } from '../dns/type-codes.ts';

export type Transport = 'udp' | 'tcp';

/** The counted types; the last stands for all others. */
export const COUNTED_TYPES: readonly string[] = [...Object.keys(TYPE), 'other'];
export const COUNTED_RCODES = 24; // up to BADCOOKIE
/** Upper bounds of the latency histogram. */
export const LATENCY_BOUNDS_SECONDS: readonly number[] = [
  0.000_005, 0.000_01, 0.000_02, 0.000_05, 0.000_1, 0.000_2, 0.000_5, 0.001, 0.005, 0.02, 0.1,
];

const TRANSPORTS: readonly Transport[] = ['udp', 'tcp'];
const OTHER = COUNTED_TYPES.length - 1;
const MAX_COUNTED_TYPE = 512;

const typeIndex = new Uint8Array(MAX_COUNTED_TYPE).fill(OTHER);
for (const [index, code] of Object.values(TYPE).entries()) typeIndex[code] = index;

export class QueryCounters {
  readonly answers = new Float64Array(TRANSPORTS.length * COUNTED_TYPES.length * COUNTED_RCODES);
  readonly truncated = new Float64Array(TRANSPORTS.length);
  /** Answers per latency bucket; the last has no bound. */
  readonly latency = new Float64Array(LATENCY_BOUNDS_SECONDS.length + 1);
  latencySumSeconds = 0;
  /** Answers withheld by the rate limit, and those it replaced by TC. */
  rateDropped = 0;
  rateTruncated = 0;
  /** Packets that get no answer: shorter than a header, or responses themselves. */
  ignored = 0;
  /** Queries that met a bug of ours; they got SERVFAIL. */
  failed = 0;
  /** UDP answers that the system refused to send, or that waited in too long a queue. */
  unsent = 0;
  /** TCP connections refused or ended by a limit. */
  tcpRefused = 0;
  tcpExpired = 0;

  countAnswer(transport: Transport, type: number, rcode: number, truncated: boolean): void {
    const transportIndex = transport === 'udp' ? 0 : 1;
    const typeAt = type < MAX_COUNTED_TYPE ? (typeIndex[type] as number) : OTHER;
    const at = (transportIndex * COUNTED_TYPES.length + typeAt) * COUNTED_RCODES + rcode;
    this.answers[at] = (this.answers[at] as number) + 1;
    if (truncated) this.truncated[transportIndex] = (this.truncated[transportIndex] as number) + 1;
  }

  observeLatency(seconds: number): void {
    let bucket = 0;
    while (bucket < LATENCY_BOUNDS_SECONDS.length && seconds > (LATENCY_BOUNDS_SECONDS[bucket] as number))
      bucket++;
    this.latency[bucket] = (this.latency[bucket] as number) + 1;
    this.latencySumSeconds += seconds;
  }

  /** Every count of answers that is not zero. */
  *answerCounts(): Generator<{ transport: Transport; type: string; rcode: number; count: number }> {
    for (const [t, transport] of TRANSPORTS.entries()) {
      for (const [i, type] of COUNTED_TYPES.entries()) {
        for (let rcode = 0; rcode < COUNTED_RCODES; rcode++) {
          const count = this.answers[(t * COUNTED_TYPES.length + i) * COUNTED_RCODES + rcode] as number;
          if (count > 0) yield { transport, type, rcode, count };
        }
      }
    }
  }
}
