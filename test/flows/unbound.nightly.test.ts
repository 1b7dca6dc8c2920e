// A real recursive resolver, Unbound, resolves every name of fixtures/zones through our nameserver's sockets, with mixed
// case in its questions (0x20), QNAME minimisation, and so small a buffer that large answers come over TCP.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeMessage } from '../../src/dns/message/message.ts';
import { rcodeMnemonic } from '../../src/dns/message/rcodes.ts';
import { decodeName, foldCase, type Name, nameInRdata, prependLabel, printName } from '../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../src/dns/type-codes.ts';
import type { PacketAnswerer } from '../../src/nameserver/answer/answer-query.ts';
import { listenTcp, type TcpListener } from '../../src/nameserver/tcp/tcp.ts';
import { listenDgram } from '../../src/nameserver/udp/udp-dgram.ts';
import type { UdpListener } from '../../src/nameserver/udp/udp-sockets.ts';
import { findAnswer } from '../../src/zone/find-answer.ts';
import type { RecordSet } from '../../src/zone/zone.ts';
import { linesOf, linesOfSets } from '../support/answer/observed-answer.ts';
import { nodeOf, queryFor } from '../support/answer/queries.ts';
import { askMany, askTcp, isInstalled } from '../support/peers/peers.ts';
import { freePort } from '../support/processes/free-port.ts';
import { mixCase, randomFrom } from '../support/random/random-zones.ts';
import { startUnbound } from '../support/validators/unbound.ts';
import type { ValidatingResolver } from '../support/validators/validator.ts';
import { readFixtureZones } from '../support/zone/fixture-zones.ts';
import { zonesOf } from '../support/zone/zone-text.ts';

const missing = isInstalled('unbound') ? '' : ' (skipped: needs unbound)';
const LOOPBACK = '127.0.0.1';
const RD = 0x01;
const MAX_LINKS = 8; // Unbound itself gives up after 11

interface Expected {
  readonly rcode: string;
  /** Without TTLs: a cache counts them down. */
  readonly answer: readonly string[];
}

interface Asked {
  readonly name: Name;
  readonly type: number;
  readonly expected: Expected;
}

describe.skipIf(missing !== '')(`Unbound resolves through our nameserver${missing}`, () => {
  const fixtures = readFixtureZones();
  const zones = zonesOf(...fixtures.map(({ zone }) => zone));
  const node = nodeOf(zones);
  const seen = { mixedCase: 0, otherCase: 0, tcp: 0, truncated: 0 };
  const listeners: (UdpListener | TcpListener)[] = [];
  let unbound: ValidatingResolver;

  beforeAll(async () => {
    const watching: PacketAnswerer = {
      nowMs: 0,
      client: node.answerer.client,
      answer(input, at, octets, out, outAt, room) {
        node.answerer.nowMs = this.nowMs;
        const length = node.answerer.answer(input, at, octets, out, outAt, room);
        const { name } = decodeName(input.subarray(at), 12);
        if (name !== foldCase(name)) seen.mixedCase++;
        if (name !== decodeName(out.subarray(outAt, outAt + length), 12).name) seen.otherCase++;
        if (this.client.transport === 1) seen.tcp++;
        if (((out[outAt + 2] as number) & 0x02) !== 0) seen.truncated++;
        return length;
      },
    };
    const answers = { ...node, answerer: watching };
    const ours = await freePort();
    listeners.push(await listenDgram([{ address: LOOPBACK, port: ours }], answers));
    listeners.push(await listenTcp([{ address: LOOPBACK, port: ours }], answers));
    const apexes = [...new Set(['.', ...fixtures.map(({ apex }) => apex)])];
    unbound = await startUnbound(
      { anchors: [], reached: { stubs: apexes.map((zone) => ({ zone, port: ours })) } },
      {
        more: [
          'qname-minimisation: yes',
          'use-caps-for-id: yes',
          'edns-buffer-size: 512',
          ...[...new Set(['test.', ...apexes.slice(1)])].map((apex) => `local-zone: "${apex}" nodefault`),
        ],
      },
    );
  });

  afterAll(async () => {
    await unbound?.stop();
    for (const listener of listeners) await listener.close();
  });

  it.each(fixtures)('every name of $file', { timeout: 60_000 }, async ({ zone }) => {
    const questions: Asked[] = [];
    const add = (name: Name | undefined, type: number) => {
      const expected = name === undefined ? undefined : resolveByHand(name, type);
      if (name !== undefined && expected !== undefined) questions.push({ name, type, expected });
    };
    for (const { name, sets } of zone.nodes.values()) {
      for (const type of sets.keys()) add(name, type);
      add(name, TYPE.A);
      add(name, TYPE.LOC);
      add(prependLabel('no-such-name', name), TYPE.A);
    }
    expect(questions.length).toBeGreaterThan(0);

    const random = randomFrom(questions.length);
    const queries = questions.map(({ name, type }) => {
      const query = queryFor({ name: mixCase(random, name), type, udpPayloadSize: 1232 });
      query[2] = (query[2] as number) | RD;
      return query;
    });
    const replies = await askMany(unbound.port, queries, { tries: 3, timeoutMs: 8000 });
    for (const [index, { name, type, expected }] of questions.entries()) {
      const question = `${printName(name)} ${typeMnemonic(type)}`;
      const reply = replies[index];
      if (reply === undefined) throw new Error(`no reply to ${question}`);
      const isTruncated = ((reply[2] as number) & 0x02) !== 0;
      const bytes = isTruncated ? await askTcp(unbound.port, queries[index] as Uint8Array) : reply;
      expect({ question, ...resolved(bytes) }).toEqual({ question, ...expected });
    }
  });

  it('with 0x20, over UDP and TCP, and every question echoed in its case', () => {
    expect(seen.mixedCase).toBeGreaterThan(100);
    expect(seen.otherCase).toBe(0);
    expect(seen.truncated).toBeGreaterThan(0);
    expect(seen.tcp).toBeGreaterThan(0);
  });

  /** What the zones hold for a name, aliases followed through all of them; undefined where no zone of ours has the end. */
  function resolveByHand(qname: Name, type: number): Expected | undefined {
    const answer: RecordSet[] = [];
    const visited = new Set<Name>();
    for (let name = qname; ; ) {
      if (visited.has(name)) return undefined;
      visited.add(name);
      const found = findAnswer(zones, name, type);
      if (found.kind === 'referral' || found.kind === 'refused' || found.kind === 'yxdomain')
        return undefined;
      answer.push(...found.answer);
      if (answer.filter((set) => set.type === TYPE.CNAME).length > MAX_LINKS) return undefined;
      const last = found.answer.at(-1);
      const isAlias = found.kind === 'answer' && last?.type === TYPE.CNAME && type !== TYPE.CNAME;
      if (!isAlias || last === undefined) {
        return { rcode: rcodeMnemonic(found.rcode), answer: linesOfSets(answer).map(withoutTtl) };
      }
      name = foldCase(nameInRdata(last.rdata[0] as Uint8Array));
    }
  }
});

function resolved(reply: Uint8Array): Expected {
  const { rcode, answers } = decodeMessage(reply);
  return { rcode: rcodeMnemonic(rcode), answer: linesOf(answers).map(withoutTtl) };
}

function withoutTtl(line: string): string {
  return line.replace(/^(\S+) \d+ /, '$1 ');
}
