import { createSocket } from 'node:dgram';
import dnsPacket from 'dns-packet';
import { afterEach, describe, expect, test } from 'vitest';
import { TYPE } from '../../src/dns/type-codes.ts';
import { answerQuery } from '../../src/nameserver/answer-query.ts';
import { listenUdp, type UdpListener } from '../../src/nameserver/udp.ts';
import { queryFor, summarize } from '../support/packets.ts';
import { exchangeUdp } from '../support/sockets.ts';
import { testNode } from '../support/test-node.ts';
import { until } from '../support/until.ts';

const LOOPBACKS = [
  { address: '127.0.0.1', port: 0 },
  { address: '::1', port: 0 },
];

let open: UdpListener[] = [];
afterEach(async () => {
  await Promise.all(open.map((listener) => listener.close()));
  open = [];
});

async function listening(node = testNode(), addresses = LOOPBACKS) {
  const listener = await listenUdp(
    addresses,
    (query, out, client) => answerQuery(query, out, client, node),
    node.counters,
  );
  open.push(listener);
  return { listener, node };
}

describe('a UDP listener', () => {
  test('answers on every address, IPv4 and IPv6', async () => {
    const { listener } = await listening();
    expect(listener.addresses.map(({ address }) => address)).toEqual(['127.0.0.1', '::1']);
    for (const address of listener.addresses) {
      const reply = await exchangeUdp(address, queryFor('www.example.test.', TYPE.A, { opt: '' }));
      expect(summarize(reply!)).toBe('NOERROR aa 1/1/0/0 OPT()');
    }
  });

  test('is understood by dns-packet', async () => {
    const { listener } = await listening();
    const query = dnsPacket.encode({
      type: 'query',
      id: 9,
      questions: [{ type: 'MX', name: 'Example.test' }],
    });
    const reply = dnsPacket.decode((await exchangeUdp(listener.addresses[0]!, query))!);
    expect(reply).toMatchObject({ id: 9, flag_aa: true, questions: [{ name: 'Example.test' }] });
    expect(reply.answers).toMatchObject([
      { type: 'MX', data: { preference: 10, exchange: 'mail.example.test' } },
    ]);
  });

  test('leaves what deserves silence unanswered, and answers on', async () => {
    const { listener, node } = await listening();
    const [address] = listener.addresses;
    const response = queryFor('www.example.test.', TYPE.A);
    response[2] = 0x80;
    for (const packet of [Buffer.alloc(0), Buffer.alloc(11), response]) {
      expect(await exchangeUdp(address!, packet, 50)).toBeUndefined();
    }
    await until(() => node.counters.ignored === 3, 'three ignored packets');
    expect(await exchangeUdp(address!, queryFor('www.example.test.', TYPE.A))).toBeDefined();
  });

  test('answers a burst, each to its asker, and counts and times it', async () => {
    const { listener, node } = await listening();
    const [address] = listener.addresses;
    const ids = Array.from({ length: 100 }, (_, i) => i);
    const replies = await Promise.all(
      ids.map((id) => exchangeUdp(address!, queryFor('www.example.test.', TYPE.A, { id }))),
    );
    expect(replies.map((reply) => reply?.readUInt16BE(0))).toEqual(ids);
    expect([...node.counters.answerCounts()]).toEqual([
      { transport: 'udp', type: 'A', rcode: 0, count: 100 },
    ]);
    expect(node.counters.latency.reduce((sum, count) => sum + count, 0)).toBe(100);
  });

  test('survives a packet whose answer throws', async () => {
    let calls = 0;
    const node = testNode();
    const listener = await listenUdp(
      LOOPBACKS,
      (query, out, client) => {
        if (calls++ === 0) throw new Error('a bug');
        return answerQuery(query, out, client, node);
      },
      node.counters,
    );
    open.push(listener);
    const query = queryFor('www.example.test.', TYPE.A);
    expect(await exchangeUdp(listener.addresses[0]!, query, 50)).toBeUndefined();
    expect(await exchangeUdp(listener.addresses[0]!, query)).toBeDefined();
    expect(node.counters.unsent).toBe(1);
  });

  test('says which address cannot be had, and holds none of the others', async () => {
    const taken = createSocket('udp4');
    await new Promise<void>((done) => taken.bind(0, '127.0.0.1', done));
    const { port } = taken.address();
    const free = await listening();
    const other = { address: '::1', port: free.listener.addresses[1]!.port };
    await Promise.all(open.splice(0).map((listener) => listener.close()));
    await expect(listening(undefined, [other, { address: '127.0.0.1', port }])).rejects.toThrow(
      `EADDRINUSE 127.0.0.1:${port}`,
    );
    await listening(undefined, [other]);
    await new Promise<void>((done) => taken.close(() => done()));
  });

  test('is silent after it was closed', async () => {
    const { listener } = await listening();
    await Promise.all(open.splice(0).map((one) => one.close()));
    const answer = exchangeUdp(listener.addresses[0]!, queryFor('www.example.test.', TYPE.A), 50);
    expect(await answer.catch(() => undefined)).toBeUndefined();
  });
});
