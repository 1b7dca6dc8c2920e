// NOTIFY messages between a node and a peer on the loopback interface.

import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import {
  readTsig,
  signErrorAnswer,
  signMessage,
  TSIG_ERROR,
  type TsigKey,
  verifyRequest,
} from '../../../src/dns/message/tsig.ts';
import { parseName } from '../../../src/dns/name.ts';
import { CLASS, TYPE } from '../../../src/dns/type-codes.ts';
import { EncodedZones } from '../../../src/nameserver/transfer/encoding/encoded-zones.ts';
import { type NotifiedPeer, NotifySender } from '../../../src/nameserver/transfer/notify-sender.ts';
import { TransferReports } from '../../../src/nameserver/transfer/transfer-reports.ts';
import { testNode } from '../../support/answer/test-node.ts';
import { until } from '../../support/tests/until.ts';

const APEX = parseName('example.test.');
const ZONE_ID = 0;
const KEY: TsigKey = {
  name: parseName('key.'),
  algorithm: 'hmac-sha256',
  secret: Uint8Array.from({ length: 32 }, (_, i) => i),
};
const CHANGED = [{ id: ZONE_ID, apex: APEX }];

let warnings: string[];
let server: Socket;
let stranger: Socket;
let sender: NotifySender;
let reports: TransferReports;
let peers: NotifiedPeer[];
let received: { octets: Buffer; from: RemoteInfo }[];

beforeEach(async () => {
  received = [];
  warnings = [];
  server = await socketOn('127.0.0.1');
  stranger = await socketOn('127.0.0.1');
  server.on('message', (octets, from) => received.push({ octets, from }));
  reports = new TransferReports();
  peers = [peer({})];
  sender = newSender(testNode());
});
afterEach(() => {
  sender.stop();
  server.close();
  stranger.close();
});

async function socketOn(address: string): Promise<Socket> {
  const socket = createSocket('udp4').bind(0, address);
  await once(socket, 'listening');
  return socket;
}

function peer(given: Partial<NotifiedPeer>): NotifiedPeer {
  const { port } = server.address();
  return { id: 7, name: 'second', addresses: ['127.0.0.1'], port, key: undefined, ...given };
}

function newSender({ image, reader }: ReturnType<typeof testNode>, source?: string): NotifySender {
  return new NotifySender({
    peersOf: (zoneId) => (zoneId === ZONE_ID ? peers : []),
    zones: new EncodedZones(image, reader),
    reports,
    rate: 1000,
    source,
    dnsListen: [
      { address: '0.0.0.0', port: 53 },
      { address: '127.0.0.3', port: 53 },
    ],
    log: { debug() {}, info() {}, error() {}, warn: (_, message) => warnings.push(message) },
  });
}

async function nextNotify() {
  await until(() => received.length > 0, 'a NOTIFY');
  return received.shift() as { octets: Buffer; from: RemoteInfo };
}

/** Returns the header and question of the message as an answer. */
function answerTo(octets: Buffer, rcode: number = RCODE.NOERROR): Buffer {
  const answer = Buffer.from(octets.subarray(0, 12 + APEX.length + 4));
  answer.writeUInt16BE(octets.readUInt16BE(2) | 0x8000 | rcode, 2);
  answer.writeUInt16BE(0, 6);
  answer.writeUInt16BE(0, 10);
  return answer;
}

const outcomes = () => Object.fromEntries(sender.state().notifies.map((n) => [n.outcome, n.count]));
const waiting = () => sender.state().notifyQueue.reduce((sum, { count }) => sum + count, 0);
const untilAnswered = () => until(() => waiting() === 0, 'the answer was accepted');

test('sends the new SOA from the first listen address that is not a wildcard', async () => {
  sender.changed(CHANGED);
  const { octets, from } = await nextNotify();
  const { opcode, aa, qr, rd, questions, answers } = decodeMessage(octets);
  expect({ opcode, aa, qr, rd }).toEqual({ opcode: 4, aa: true, qr: false, rd: false });
  expect(questions).toEqual([{ name: APEX, type: TYPE.SOA, class: CLASS.IN }]);
  expect(answers).toEqual([{ ...servedZone().soa, class: CLASS.IN }]);
  expect(from.address).toBe('127.0.0.3');
});

function servedZone() {
  const { image, reader } = testNode();
  const found = new EncodedZones(image, reader).find(APEX);
  return (found as Extract<typeof found, { kind: 'served' }>).zone;
}

test('accepts only an answer with the id of the message, from the address of the peer', async () => {
  sender.changed(CHANGED);
  const { octets, from } = await nextNotify();
  const wrongId = answerTo(octets, RCODE.REFUSED);
  wrongId.writeUInt16BE(octets.readUInt16BE(0) ^ 1, 0);
  const query = answerTo(octets, RCODE.REFUSED);
  query.writeUInt16BE(octets.readUInt16BE(2) | RCODE.REFUSED, 2);
  stranger.send(answerTo(octets, RCODE.REFUSED), from.port, from.address);
  for (const bad of [Buffer.alloc(3), wrongId, query]) server.send(bad, from.port, from.address);
  server.send(answerTo(octets), from.port, from.address);
  await untilAnswered();
  expect(outcomes()).toEqual({ acked: 1, refused: 0, given_up: 0 });
  const { serial } = servedZone();
  expect(reports.take().reports).toMatchObject([
    { zoneId: ZONE_ID, peerId: 7, notifiedSerial: serial, ackedAt: expect.any(Date), error: null },
  ]);
});

test('reports the rcode of a peer that refuses, and does not repeat the message', async () => {
  sender.changed(CHANGED);
  const { octets, from } = await nextNotify();
  server.send(answerTo(octets, RCODE.NOTAUTH), from.port, from.address);
  await untilAnswered();
  expect(outcomes()).toEqual({ acked: 0, refused: 1, given_up: 0 });
  expect(reports.take().reports).toMatchObject([
    { ackedAt: expect.any(Date), error: 'NOTAUTH in answer to NOTIFY' },
  ]);
});

describe('a peer with a key', () => {
  const nowSeconds = Math.floor(Date.now() / 1000);
  let octets: Buffer;
  let mac: Uint8Array;
  let answer: (octets: Uint8Array) => void;

  beforeEach(async () => {
    peers = [peer({ key: KEY })];
    sender.changed(CHANGED);
    const { from, ...message } = await nextNotify();
    octets = message.octets;
    const found = readTsig(octets);
    if (found.kind !== 'found') throw new Error('the message is not signed');
    expect(verifyRequest(octets, found.tsig, KEY, nowSeconds)).toEqual({ kind: 'ok' });
    mac = found.tsig.mac;
    answer = (reply) => server.send(reply, from.port, from.address);
  });

  const signed = (key: TsigKey, rcode: number) =>
    signMessage(answerTo(octets, rcode), key, { nowSeconds, requestMac: mac }).message;

  test('acknowledges with signed answers only', async () => {
    answer(answerTo(octets));
    answer(signed({ ...KEY, secret: new Uint8Array(32) }, RCODE.NOERROR));
    answer(signed(KEY, RCODE.REFUSED));
    await untilAnswered();
    expect(outcomes()).toEqual({ acked: 0, refused: 1, given_up: 0 });
  });

  test('refuses without a signature too, as Knot and NSD do', async () => {
    answer(answerTo(octets, RCODE.NOTAUTH));
    await untilAnswered();
    expect(outcomes()).toEqual({ acked: 0, refused: 1, given_up: 0 });
  });

  test('reports the TSIG error of the peer', async () => {
    const found = readTsig(octets);
    if (found.kind !== 'found') throw new Error('the message is not signed');
    const refusal = answerTo(octets, RCODE.NOTAUTH);
    answer(signErrorAnswer(refusal, found.tsig, undefined, TSIG_ERROR.BADKEY, nowSeconds));
    await untilAnswered();
    expect(reports.take().reports[0]?.error).toBe('NOTAUTH (BADKEY) in answer to NOTIFY');
  });
});

test('one silent peer does not delay another one', async () => {
  peers = [peer({ id: 8, addresses: ['127.0.0.9'] }), peer({})];
  sender.changed(CHANGED);
  const { octets, from } = await nextNotify();
  server.send(answerTo(octets), from.port, from.address);
  await until(() => outcomes().acked === 1, 'the answer was accepted');
  expect(waiting()).toBe(1);
});

test('sends nothing about a zone that is not served completely, or to a peer that was removed meanwhile', async () => {
  sender.stop();
  sender = newSender(testNode({ expired: true }));
  sender.changed([...CHANGED, { id: 9, apex: parseName('unknown.test.') }]);
  expect(waiting()).toBe(0);
  sender.stop();
  sender = newSender(testNode());
  const before = peers;
  sender.changed(CHANGED);
  const first = await nextNotify();
  sender.configured(before);
  expect(waiting()).toBe(1);
  sender.configured([]);
  expect(waiting()).toBe(0);
  sender.changed(CHANGED);
  const second = await nextNotify();
  for (const { octets, from } of [first, second]) server.send(answerTo(octets), from.port, from.address);
  await untilAnswered();
  expect(outcomes()).toEqual({ acked: 1, refused: 0, given_up: 0 });
});

test('reports an error of the socket, and continues with the other family', async () => {
  sender.stop();
  sender = newSender(testNode(), '2001:db8::1'); // not an address of this machine
  peers = [peer({ id: 8, addresses: ['::1'] }), peer({})];
  sender.changed(CHANGED);
  await nextNotify();
  await until(() => warnings.length > 0, 'a warning');
  expect(warnings).toEqual(['NOTIFY cannot be sent from this address']);
});
