// A node for queries in tests: the zone of fixtures/packets in an image, the cookie secret of RFC 9018 appendix A, and
// a settable clock.

import { readFileSync } from 'node:fs';
import type { AmplificationLimit } from '../../../src/nameserver/answer/amplification-limit.ts';
import { Answerer, type AnswerSettings } from '../../../src/nameserver/answer/answer-query.ts';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import type { RateLimit } from '../../../src/nameserver/answer/response-rate-limit.ts';
import {
  TRANSPORTS,
  type Transport,
  type TransportIndex,
} from '../../../src/nameserver/answer/transports.ts';
import type { ZoneCounts } from '../../../src/nameserver/counts/zone-counts.ts';
import type { AskedMarks } from '../../../src/nameserver/image/find/asked-marks.ts';
import { createImage, Image, ReaderSlot } from '../../../src/nameserver/image/image.ts';
import { ImageWriter } from '../../../src/nameserver/image/write-image.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import type { DenialStyle } from '../dnssec/denial-chain.ts';
import { signedZone } from '../zone/sign-zone.ts';
import { zoneOf } from '../zone/zone-text.ts';

const RFC_9018_SECRET = 'e5e973e5a6b2a43f48e7dc849e37bfcf';
/** 2019-06-05 10:53:05 UTC, the time of RFC 9018 appendix A.1. */
export const NOW_MS = 1_559_731_985_000;

export interface Client {
  readonly transport: Transport;
  /** 4 or 16 octets. */
  readonly address: Uint8Array;
}

/** The parts that an answer needs, and the counters that it changes. */
export interface AnsweringNode {
  readonly image: Image;
  readonly settings: AnswerSettings;
  readonly answerer: Answerer;
  readonly reader: ReaderSlot;
  readonly counters: QueryCounters;
  readonly failures: unknown[];
}

export interface WrittenNode extends AnsweringNode {
  readonly writer: ImageWriter;
}

interface TestNode extends AnsweringNode {
  clockMs: number;
}

export interface TestNodeOptions {
  zoneText?: string;
  nodeName?: string;
  rateLimit?: RateLimit;
  amplificationLimit?: AmplificationLimit;
  tcpIdleTimeoutMs?: number;
  asked?: AskedMarks;
  zoneCounts?: ZoneCounts;
  unproven?: boolean;
  expired?: boolean;
  isPrivate?: boolean;
  hasTransfers?: boolean;
  /** The zone is signed, and proves denials in this way. */
  denial?: DenialStyle;
}

function exampleZoneText(): string {
  return readFileSync(new URL('../../../fixtures/packets/example.zone', import.meta.url), 'utf8');
}

export function testNode(options: TestNodeOptions = {}): TestNode {
  const { unproven = false, expired = false, isPrivate = false } = options;
  const plain = zoneOf('example.test.', options.zoneText ?? exampleZoneText());
  const given = options.denial === undefined ? plain : signedZone(plain, options.denial);
  const zone = { ...given, unproven, expired, isPrivate };
  const node = answeringNode([zone], {
    nodeName: options.nodeName ?? 'node-1',
    version: 'Zonefleet 1.2.3',
    cookieSecrets: [Uint8Array.from(Buffer.from(RFC_9018_SECRET, 'hex'))],
    rateLimit: options.rateLimit,
    amplificationLimit: options.amplificationLimit,
    tcpIdleTimeoutMs: options.tcpIdleTimeoutMs ?? 10_000,
    asked: options.asked,
    zoneCounts: options.zoneCounts,
    hasTransfers: options.hasTransfers ?? false,
  });
  node.answerer.nowMs = NOW_MS;
  return {
    ...node,
    get clockMs() {
      return node.answerer.nowMs;
    },
    set clockMs(nowMs) {
      node.answerer.nowMs = nowMs;
    },
  };
}

export function answeringNode(zones: Iterable<Zone>, settings: AnswerSettings): WrittenNode {
  const list = [...zones];
  const records = list.reduce((sum, zone) => sum + zone.records, 0);
  const image = new Image(createImage((1 << 20) + records * 2048, 0x5eed));
  const writer = new ImageWriter(image);
  for (const [id, zone] of list.entries()) writer.put(zone, { id, version: 1, mark: 0 });
  const counters = new QueryCounters();
  const failures: unknown[] = [];
  const answerer = new Answerer(image, settings, counters, (error) => failures.push(error));
  return { image, settings, answerer, reader: new ReaderSlot(image, 0), counters, failures, writer };
}

/** Writes the answer to `out` and returns its length; 0 means no answer. */
export function answerQuery(query: Uint8Array, out: Uint8Array, client: Client, node: AnsweringNode): number {
  const { transport, address } = client;
  node.reader.enter();
  node.answerer.client.set(TRANSPORTS.indexOf(transport) as TransportIndex, address);
  const length = node.answerer.answer(query, 0, query.length, out, 0, out.length);
  node.reader.leave();
  return length;
}

export function udpClient(...address: number[]): Client {
  return { transport: 'udp', address: Uint8Array.from(address) };
}

/** Returns a copy of the answer; empty if there is none. */
export function ask(
  query: Uint8Array,
  node: AnsweringNode = testNode(),
  client: Client = udpClient(198, 51, 100, 100),
): Uint8Array {
  const out = Buffer.alloc(client.transport === 'udp' ? 1232 : 65535);
  return out.subarray(0, answerQuery(query, out, client, node));
}
