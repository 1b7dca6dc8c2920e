// Queries the private internet over UDP and TCP like a resolver.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { decodeMessage, type Message } from '../../../src/dns/message/message.ts';
import { foldCase, nameInRdata, parseName, printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { encodeQuery } from '../../../src/resolver/exchange/encode-query.ts';
import { AnsweringPlaces } from '../../../src/start/demo/answer-at.ts';
import { elsewhereZones, registryZones, rootZone } from '../../../src/start/demo/demo-net.ts';
import { framed } from '../../support/answer/sockets.ts';
import { freePort } from '../../support/processes/free-port.ts';

const ADDRESS = '127.0.0.1';
const NS = ['ns1.zonefleet.example', 'ns2.zonefleet.example'];
let places: AnsweringPlaces;
let port: number;
const failures: unknown[] = [];

beforeEach(async () => {
  port = await freePort();
  places = new AnsweringPlaces({ addresses: [ADDRESS], port, nodeName: 'demo' }, (error) =>
    failures.push(error),
  );
  await places.listen();
});
afterEach(async () => {
  await places.close();
  expect(failures).toEqual([]);
});

async function overUdp(name: string, type: number): Promise<Message> {
  const socket = createSocket('udp4');
  socket.send(encodeQuery(parseName(name), type, true), port, ADDRESS);
  const [reply] = await once(socket, 'message');
  socket.close();
  return decodeMessage(reply);
}

async function overTcp(name: string, type: number): Promise<Message> {
  const socket = connect(port, ADDRESS);
  // In two pieces, as a network may deliver it.
  const query = framed(encodeQuery(parseName(name), type, true));
  socket.write(query.subarray(0, 3));
  setImmediate(() => socket.write(query.subarray(3)));
  let reply = Buffer.alloc(0);
  for await (const chunk of socket) {
    reply = Buffer.concat([reply, chunk]);
    if (reply.length >= 2 && reply.length === 2 + reply.readUInt16BE(0)) break;
  }
  return decodeMessage(reply.subarray(2));
}

const hosts = ({ authorities }: Message) =>
  authorities
    .filter(({ type }) => type === TYPE.NS)
    .map(({ rdata }) => printName(foldCase(nameInRdata(rdata))))
    .sort();

it.each([
  ['UDP', overUdp],
  ['TCP', overTcp],
])('the root refers to the registry with glue, over %s', async (_, over) => {
  places.serve([rootZone()]);
  const reply = await over('shop.test.', TYPE.NS);
  expect([reply.aa, reply.rcode, hosts(reply)]).toEqual([false, 0, ['a.nic.test.', 'b.nic.test.']]);
  const glue = reply.additionals.map(
    ({ owner, type, rdata }) => `${printName(owner)} ${printRdata(type, rdata)}`,
  );
  expect(glue.sort()).toEqual(['a.nic.test. 127.83.2.1', 'b.nic.test. 127.84.2.1']);
});

it('the registry applies each change immediately: NXDOMAIN, a referral, NXDOMAIN again', async () => {
  const serve = (nameservers: readonly string[], serial: number) =>
    places.serve(registryZones(new Map([['shop.test', nameservers]]), serial));
  serve([], 1);
  const absent = await overUdp('shop.test.', TYPE.NS);
  expect([absent.aa, absent.rcode, absent.authorities[0]?.type]).toEqual([true, 3, TYPE.SOA]);
  serve(NS, 2);
  const delegated = await overUdp('shop.test.', TYPE.NS);
  expect([delegated.aa, delegated.rcode, hosts(delegated)]).toEqual([false, 0, NS.map((name) => `${name}.`)]);
  serve([], 3);
  expect((await overUdp('shop.test.', TYPE.NS)).rcode).toBe(3);
});

it('the registry has the addresses of our nameservers in both top-level domains', async () => {
  places.serve(registryZones(new Map([['zonefleet.test', ['ns1.zonefleet.test']]]), 1));
  for (const domain of ['zonefleet.test', 'zonefleet.example']) {
    const reply = await overUdp(`ns1.${domain}.`, TYPE.A);
    const glue = reply.additionals.filter(({ owner }) => printName(owner) === `ns1.${domain}.`);
    expect(glue.map(({ type, rdata }) => printRdata(type, rdata))).toEqual(['127.83.3.1']);
  }
});

it('the other provider answers only for domains delegated to it, and invalid messages get no answer', async () => {
  const serve = (nameserver: string) => places.serve(elsewhereZones(new Map([['shop.test', [nameserver]]])));
  serve('ns1.elsewhere.example');
  const there = await overUdp('www.shop.test.', TYPE.A);
  expect([there.aa, there.rcode, there.answers.length]).toEqual([true, 0, 1]);
  serve('ns1.zonefleet.example');
  expect((await overUdp('www.shop.test.', TYPE.A)).rcode).toBe(5);
  expect((await overUdp('ns1.elsewhere.example.', TYPE.A)).answers).toHaveLength(1);
  places.serve([rootZone()]);
  const socket = connect(port, ADDRESS);
  socket.write(framed(Buffer.from('junk')));
  await once(socket, 'close');
  expect((await overUdp('.', TYPE.NS)).answers).toHaveLength(2);
});
