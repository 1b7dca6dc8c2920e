// Samples as the observing thread reads them.

import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { Client } from '../../../src/nameserver/answer/client.ts';
import type { TransportIndex } from '../../../src/nameserver/answer/transports.ts';
import {
  ReadSample,
  SAMPLE_OCTETS,
  type Sample,
  writeSample,
} from '../../../src/nameserver/observe/sample-record.ts';
import { queryFor } from './queries.ts';

export const V4 = Uint8Array.of(192, 0, 2, 77);
export const V6 = Uint8Array.from([0x20, 1, 0xd, 0xb8, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6]);
/** 2039, when the seconds have 32 bits. */
const STARTED_MS = 2_177_452_800_123.25;

export interface Observed {
  query?: Uint8Array;
  answer?: Uint8Array;
  address?: Uint8Array;
  transport?: TransportIndex;
  zoneLabels?: number | undefined;
  rcode?: number;
}

/** Returns a sample as a sampler posts it. */
export function sampleOctets(given: Observed = {}, more: Partial<Sample> = {}): Uint8Array<ArrayBuffer> {
  const query =
    given.query ??
    queryFor({ name: parseName('WWW.example.test.'), type: TYPE.A, udpPayloadSize: undefined });
  const answer = given.answer ?? Uint8Array.of(0, 0, 0x84, 0, 0, 1, 0, 0, 0, 0, 0, 0);
  const client = new Client();
  client.set(given.transport ?? 0, given.address ?? V4);
  const zoneLabels = 'zoneLabels' in given ? given.zoneLabels : 2;
  const facts = { rcode: given.rcode ?? 0, ...(zoneLabels !== undefined && { zoneLabels }) };
  const octets = new Uint8Array(SAMPLE_OCTETS + query.length + answer.length);
  const answerer = { client, nowMs: 0, answer: () => 0, ...facts };
  const sample: Sample = {
    port: 40_000,
    query,
    queryAt: 0,
    queryOctets: query.length,
    answer,
    answerAt: 0,
    answerOctets: answer.length,
    startedAtMs: 123.25,
    ...more,
  };
  const offsetMs = STARTED_MS - sample.startedAtMs;
  writeSample(octets, new DataView(octets.buffer), 0, sample, answerer, 123.5, offsetMs);
  return octets;
}

/** Writes and reads a sample. */
export function sampleOf(given: Observed = {}, more: Partial<Sample> = {}): ReadSample {
  const octets = Buffer.concat([Buffer.alloc(1), sampleOctets(given, more)]); // not at the start of its memory
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  const sample = new ReadSample();
  if (sample.read(octets, view, 1) !== octets.length) throw new Error('the sample has another length');
  return sample;
}
