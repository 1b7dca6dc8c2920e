// A node to ask in tests: the zone of fixtures/packets, the cookie secret of RFC 9018 appendix A, a clock to set.

import { readFileSync } from 'node:fs';
import { answerQuery, type ServedNode } from '../../src/nameserver/answer-query.ts';
import type { Client } from '../../src/nameserver/client.ts';
import { Cookies, parseCookieSecret } from '../../src/nameserver/cookies.ts';
import { QueryCounters } from '../../src/nameserver/query-counters.ts';
import type { RateLimit } from '../../src/nameserver/rate-limit.ts';
import type { Zones } from '../../src/zone/zone.ts';
import { zoneOf, zonesOf } from './zone-text.ts';

export const RFC_9018_SECRET = 'e5e973e5a6b2a43f48e7dc849e37bfcf';
/** 2019-06-05 10:53:05 UTC, the time of RFC 9018 appendix A.1. */
export const NOW_MS = 1_559_731_985_000;

export interface TestNode extends ServedNode {
  clockMs: number;
  readonly failures: unknown[];
}

export interface TestNodeOptions {
  zoneText?: string;
  zones?: Zones;
  nodeName?: string;
  rateLimit?: RateLimit;
  tcpIdleTimeoutMs?: number;
}

export function exampleZoneText(): string {
  return readFileSync(new URL('../../fixtures/packets/example.zone', import.meta.url), 'utf8');
}

export function testNode(options: TestNodeOptions = {}): TestNode {
  const failures: unknown[] = [];
  return {
    zones: options.zones ?? zonesOf(zoneOf('example.test.', options.zoneText ?? exampleZoneText())),
    nodeName: options.nodeName ?? 'node-1',
    version: 'Zonefleet 1.2.3',
    cookies: new Cookies([parseCookieSecret(RFC_9018_SECRET) as Uint8Array]),
    rateLimit: options.rateLimit,
    tcpIdleTimeoutMs: options.tcpIdleTimeoutMs ?? 10_000,
    counters: new QueryCounters(),
    clockMs: NOW_MS,
    nowMs() {
      return this.clockMs;
    },
    failures,
    reportFailure: (error) => failures.push(error),
  };
}

export function udpClient(...address: number[]): Client {
  return { transport: 'udp', address: Uint8Array.from(address) };
}

/** The answer as a copy; empty for silence. */
export function ask(
  query: Uint8Array,
  node: ServedNode = testNode(),
  client: Client = udpClient(198, 51, 100, 100),
): Uint8Array {
  const out = Buffer.alloc(client.transport === 'tcp' ? 65535 : 1232);
  return out.subarray(0, answerQuery(query, out, client, node));
}
