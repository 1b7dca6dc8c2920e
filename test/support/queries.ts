// Queries as a resolver sends them, and our answers to them without a socket between.

import { encodeMessage } from '../../src/dns/message.ts';
import type { Name } from '../../src/dns/name.ts';
import { CLASS } from '../../src/dns/type-codes.ts';
import { answerQuery, type ServedNode } from '../../src/nameserver/answer-query.ts';
import { Cookies } from '../../src/nameserver/cookies.ts';
import { QueryCounters } from '../../src/nameserver/query-counters.ts';
import type { Zones } from '../../src/zone/zone.ts';

export interface Asked {
  readonly name: Name;
  readonly type: number;
  /** UDP payload size of the OPT record; undefined: the query has none. */
  readonly udpPayloadSize: number | undefined;
}

export function queryFor({ name, type, udpPayloadSize }: Asked, id = 0): Uint8Array {
  const edns = { udpPayloadSize: udpPayloadSize ?? 0, version: 0, dnssecOk: false, options: [] };
  return encodeMessage({
    id,
    qr: false,
    opcode: 0,
    aa: false,
    tc: false,
    rd: false,
    ra: false,
    ad: false,
    cd: false,
    rcode: 0,
    questions: [{ name, type, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
    ...(udpPayloadSize === undefined ? {} : { edns }),
  });
}

/** A node that serves these zones; a bug that a query meets is thrown. */
export function nodeOf(zones: Zones): ServedNode {
  return {
    zones,
    version: 'test',
    nodeName: 'test',
    rateLimit: undefined,
    counters: new QueryCounters(),
    cookies: new Cookies([new Uint8Array(16)]),
    tcpIdleTimeoutMs: 10_000,
    nowMs: () => 1_700_000_000_000,
    reportFailure: (error) => {
      throw error;
    },
  };
}

const out = new Uint8Array(65535);

export function ourAnswer(node: ServedNode, query: Uint8Array, transport: 'udp' | 'tcp' = 'udp'): Uint8Array {
  const client = { transport, address: Uint8Array.of(127, 0, 0, 1) };
  return out.slice(0, answerQuery(query, out, client, node));
}
