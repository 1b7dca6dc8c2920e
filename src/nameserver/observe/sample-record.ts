// The format of a sample in the buffers between threads. Numbers are little-endian.

import { HEADER_OCTETS } from '../../dns/message/header.ts';
import { MAX_NAME_OCTETS } from '../../dns/name.ts';
import type { PacketAnswerer } from '../answer/answer-query.ts';
import type { TransportIndex } from '../answer/transports.ts';

/** An answer that was just made, besides the facts that the answerer has. */
export interface Sample {
  /** The client's port. */
  readonly port: number;
  /** The address of this node, 4 or 16 octets from `localAt` on; its length is that of the client's address. Undefined if unknown. */
  readonly local?: Uint8Array | undefined;
  readonly localAt?: number;
  readonly localPort?: number | undefined;
  readonly query: Uint8Array;
  readonly queryAt: number;
  readonly queryOctets: number;
  readonly answer: Uint8Array;
  readonly answerAt: number;
  readonly answerOctets: number;
  /** The value of `performance.now` when the query was received. */
  readonly startedAtMs: number;
}

/** Offsets in a sample. */
const AT = {
  OCTETS: 0,
  TRANSPORT: 4,
  ADDRESS_OCTETS: 5,
  HAS_LOCAL: 6,
  /** Number of labels of the zone's name, or NO_ZONE. */
  ZONE_LABELS: 7,
  RCODE: 8,
  QUERY_OCTETS: 10,
  ANSWER_OCTETS: 12,
  PORT: 14,
  LOCAL_PORT: 16,
  STARTED: 20,
  ENDED: 28,
  ADDRESS: 36,
  LOCAL: 52,
} as const;
const NO_ZONE = 255;
const MAX_LABEL_OCTETS = 63;

/** Length of a sample without its messages. */
export const SAMPLE_OCTETS = 68;

/** @param clockOffsetMs is added to the times, which are values of `performance.now` */
export function writeSample(
  out: Uint8Array,
  view: DataView,
  at: number,
  sample: Sample,
  answerer: PacketAnswerer,
  endedAtMs: number,
  clockOffsetMs: number,
): void {
  const { query, queryAt, queryOctets, answer, answerAt, answerOctets } = sample;
  const { client } = answerer;
  const { local, localAt = 0 } = sample;
  view.setUint32(at + AT.OCTETS, SAMPLE_OCTETS + queryOctets + answerOctets, true);
  view.setUint8(at + AT.TRANSPORT, client.transport);
  view.setUint8(at + AT.ADDRESS_OCTETS, client.octets);
  view.setUint8(at + AT.HAS_LOCAL, local === undefined ? 0 : 1);
  view.setUint8(at + AT.ZONE_LABELS, answerer.zoneLabels ?? NO_ZONE);
  view.setUint16(at + AT.RCODE, answerer.rcode ?? (answer[answerAt + 3] as number) & 15, true); // with the bits of OPT
  view.setUint16(at + AT.QUERY_OCTETS, queryOctets, true);
  view.setUint16(at + AT.ANSWER_OCTETS, answerOctets, true);
  view.setUint16(at + AT.PORT, sample.port, true);
  view.setUint16(at + AT.LOCAL_PORT, sample.localPort ?? 0, true);
  view.setFloat64(at + AT.STARTED, sample.startedAtMs + clockOffsetMs, true);
  view.setFloat64(at + AT.ENDED, endedAtMs + clockOffsetMs, true);
  copy(client.address, client.at, client.octets, out, at + AT.ADDRESS);
  if (local !== undefined) copy(local, localAt, client.octets, out, at + AT.LOCAL);
  copy(query, queryAt, queryOctets, out, at + SAMPLE_OCTETS);
  copy(answer, answerAt, answerOctets, out, at + SAMPLE_OCTETS + queryOctets);
}

/** Up to this many octets, a loop is faster than a view. */
const FEW_OCTETS = 200;

function copy(from: Uint8Array, at: number, octets: number, to: Uint8Array, toAt: number): void {
  if (octets > FEW_OCTETS) to.set(from.subarray(at, at + octets), toAt);
  else for (let i = 0; i < octets; i++) to[toAt + i] = from[at + i] as number;
}

/** A sample that was read. One object serves all samples; its arrays are views of the buffer. */
export class ReadSample {
  transport: TransportIndex = 0;
  rcode = 0;
  port = 0;
  localPort = 0;
  /** Milliseconds since 1970. */
  startedAtMs = 0;
  endedAtMs = 0;
  address: Uint8Array = new Uint8Array(4);
  local: Uint8Array | undefined;
  query: Uint8Array = new Uint8Array(0);
  answer: Uint8Array = new Uint8Array(0);
  /** Offset in `query` after the query name; 0 if the question cannot be read. */
  nameEnd = 0;
  type = 0;
  /** Offset in `query` of the zone's name, which ends where the query name does; 0 if there is no zone. */
  zoneAt = 0;

  /** Reads the sample at `at`. Returns the offset of the next one. */
  read(octets: Uint8Array, view: DataView, at: number): number {
    const addressOctets = view.getUint8(at + AT.ADDRESS_OCTETS);
    const queryAt = at + SAMPLE_OCTETS;
    const answerAt = queryAt + view.getUint16(at + AT.QUERY_OCTETS, true);
    this.transport = view.getUint8(at + AT.TRANSPORT) as TransportIndex;
    this.rcode = view.getUint16(at + AT.RCODE, true);
    this.port = view.getUint16(at + AT.PORT, true);
    this.localPort = view.getUint16(at + AT.LOCAL_PORT, true);
    this.startedAtMs = view.getFloat64(at + AT.STARTED, true);
    this.endedAtMs = view.getFloat64(at + AT.ENDED, true);
    this.address = octets.subarray(at + AT.ADDRESS, at + AT.ADDRESS + addressOctets);
    const hasLocal = view.getUint8(at + AT.HAS_LOCAL) === 1;
    this.local = hasLocal ? octets.subarray(at + AT.LOCAL, at + AT.LOCAL + addressOctets) : undefined;
    this.query = octets.subarray(queryAt, answerAt);
    this.answer = octets.subarray(answerAt, answerAt + view.getUint16(at + AT.ANSWER_OCTETS, true));
    this.#readQuestion(view.getUint8(at + AT.ZONE_LABELS));
    return at + view.getUint32(at + AT.OCTETS, true);
  }

  #readQuestion(zoneLabels: number): void {
    const { query } = this;
    this.nameEnd = 0;
    this.zoneAt = 0;
    if (query[4] !== 0 || query[5] !== 1) return; // the number of questions
    let labels = 0;
    let at = HEADER_OCTETS;
    for (let length = query[at]; length !== 0; length = query[at]) {
      if (length === undefined || length > MAX_LABEL_OCTETS) return;
      at += length + 1;
      labels++;
    }
    at++;
    if (at - HEADER_OCTETS > MAX_NAME_OCTETS || at + 4 > query.length) return;
    this.nameEnd = at;
    this.type = ((query[at] as number) << 8) | (query[at + 1] as number);
    if (zoneLabels > labels) return; // also NO_ZONE
    this.zoneAt = HEADER_OCTETS;
    for (let skip = labels - zoneLabels; skip > 0; skip--) this.zoneAt += (query[this.zoneAt] as number) + 1;
  }
}
