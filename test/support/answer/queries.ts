// Queries in the form that resolvers send, and Zonefleet's answers to them without a socket.

import type { Name } from '../../../src/dns/name.ts';
import { CLASS } from '../../../src/dns/type-codes.ts';
import type { AnswerSettings } from '../../../src/nameserver/answer/answer-query.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { reply } from '../world/zone-exchange.ts';
import { encodeMessage } from './encode-message.ts';
import { type AnsweringNode, answeringNode, answerQuery, type WrittenNode } from './test-node.ts';

export interface Asked {
  readonly name: Name;
  readonly type: number;
  /** UDP payload size of the OPT record. Undefined if the query has none. */
  readonly udpPayloadSize: number | undefined;
  /** DO, only with an OPT record; false by default. */
  readonly dnssecOk?: boolean;
}

export function queryFor({ name, type, udpPayloadSize, dnssecOk = false }: Asked, id = 0): Uint8Array {
  const edns = { udpPayloadSize: udpPayloadSize ?? 0, version: 0, dnssecOk, options: [] };
  const questions = [{ name, type, class: CLASS.IN }];
  return encodeMessage(reply({ id, qr: false, questions, ...(udpPayloadSize !== undefined && { edns }) }));
}

export const UNLIMITED: AnswerSettings = {
  version: 'test',
  nodeName: 'test',
  rateLimit: undefined,
  amplificationLimit: undefined,
  cookieSecrets: [new Uint8Array(16)],
  tcpIdleTimeoutMs: 10_000,
};

export function nodeOf(zones: ReadonlyMap<Name, Zone>): WrittenNode {
  const node = answeringNode(zones.values(), UNLIMITED);
  node.answerer.nowMs = 1_700_000_000_000;
  return node;
}

const out = new Uint8Array(65535);

/** Throws if the query causes an exception. */
export function ourAnswer(
  node: AnsweringNode,
  query: Uint8Array,
  transport: 'udp' | 'tcp' = 'udp',
): Uint8Array {
  const length = answerQuery(query, out, { transport, address: Uint8Array.of(127, 0, 0, 1) }, node);
  if (node.failures.length > 0) throw node.failures[0];
  return out.slice(0, length);
}
