// The reference on UDP and TCP: what `findAnswer` gives, in messages.

import { decodeMessage, type MessageRecord } from '../../../src/dns/message/message.ts';
import { foldCase, type Name } from '../../../src/dns/name.ts';
import { CLASS, TYPE } from '../../../src/dns/type-codes.ts';
import type { PacketAnswerer } from '../../../src/nameserver/answer/answer-query.ts';
import { Client } from '../../../src/nameserver/answer/client.ts';
import { listenTcp } from '../../../src/nameserver/tcp/tcp.ts';
import { listenDgram } from '../../../src/nameserver/udp/udp-dgram.ts';
import type { ListenAddress } from '../../../src/process/listen-address.ts';
import { findAnswer } from '../../../src/zone/find-answer.ts';
import type { RecordSet, Zones } from '../../../src/zone/zone.ts';
import { startTogether } from '../tests/start-together.ts';
import { encodeMessage } from './encode-message.ts';
import { nodeOf } from './queries.ts';
import type { ServedNode } from './serve-node.ts';

const MAX_UDP_OCTETS = 1232;

export async function serveReference(zones: Zones, addresses: readonly ListenAddress[]): Promise<ServedNode> {
  const answers = { ...nodeOf(new Map()), answerer: new ReferenceAnswerer(zones) };
  const stoppable = <T extends { close(): Promise<void> }>(listener: T) => ({ stop: () => listener.close() });
  const [udp, tcp] = await startTogether([
    listenDgram(addresses, answers).then(stoppable),
    listenTcp(addresses, answers).then(stoppable),
  ]);
  return {
    async stop() {
      await Promise.all([udp.stop(), tcp.stop()]);
    },
  };
}

class ReferenceAnswerer implements PacketAnswerer {
  nowMs = 0;
  readonly client = new Client();
  readonly #zones: Zones;

  constructor(zones: Zones) {
    this.#zones = zones;
  }

  answer(input: Uint8Array, at: number, octets: number, out: Uint8Array, outAt: number): number {
    const query = decodeMessage(input.subarray(at, at + octets));
    const [question] = query.questions;
    if (question === undefined) return 0;
    const { edns } = query;
    const dnssecOk = edns?.dnssecOk ?? false;
    const found = findAnswer(this.#zones, foldCase(question.name), question.type, { dnssecOk });
    const reply = {
      ...query,
      qr: true,
      aa: found.authoritative,
      ra: false,
      ad: false,
      cd: false,
      rcode: found.rcode,
      answers: found.answer.flatMap(recordsOf),
      authorities: found.authority.flatMap(recordsOf),
      additionals: [...found.glue, ...found.additional].flatMap(recordsOf),
      ...(edns && { edns: { ...edns, udpPayloadSize: MAX_UDP_OCTETS, options: [] } }),
    };
    const offered = Math.min(Math.max(edns?.udpPayloadSize ?? 512, 512), MAX_UDP_OCTETS);
    const message = encodeMessage(reply, this.client.transport === 0 ? offered : undefined);
    out.set(message, outAt);
    return message.length;
  }
}

/** A set, and its signatures behind it. */
function recordsOf({ owner, type, ttl, rdata, signatures = [] }: RecordSet): MessageRecord[] {
  const record = (of: number) => (octets: Uint8Array) => ({
    owner: owner as Name,
    type: of,
    class: CLASS.IN,
    ttl,
    rdata: octets,
  });
  return [...rdata.map(record(type)), ...signatures.map(record(TYPE.RRSIG))];
}
