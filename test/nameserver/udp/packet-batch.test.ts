import { beforeEach, describe, expect, test, vi } from 'vitest';
import { printAddress } from '../../../src/dns/record/ip-address.ts';
import { type PacketAnswerer, SLOW_PATH } from '../../../src/nameserver/answer/answer-query.ts';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import { ReadSample } from '../../../src/nameserver/observe/sample-record.ts';
import { Sampler, type Samples } from '../../../src/nameserver/observe/sampler.ts';
import {
  EAGAIN,
  EINTR,
  IP_PKTINFO,
  IPPROTO_IP,
  IPPROTO_IPV6,
  IPV6_PKTINFO,
  MSG_DONTWAIT,
  MSG_TRUNC,
  MSG_WAITFORONE,
} from '../../../src/nameserver/threads/libc.ts';
import { PacketBatch } from '../../../src/nameserver/udp/packet-batch.ts';
import type { SlowPacket } from '../../../src/nameserver/udp/slow-packet.ts';
import type { UdpSocket } from '../../../src/nameserver/udp/udp-sockets.ts';
import { FakeLibc, type FakePacket } from '../../support/answer/fake-libc.ts';
import { OneByOne } from '../../support/answer/one-by-one.ts';

const V4: UdpSocket = { descriptor: 4, ipv6: false, wildcard: false };
const V6: UdpSocket = { descriptor: 6, ipv6: true, wildcard: false };
const EINVAL = 22;
const ROOM = 100;
const BATCH_PACKETS = 64;

/** Answers 'A' and the octets of the query; no answer for 's'; SLOW_PATH for 'later'; throws for 't'. Records the clients. */
class Echo extends OneByOne {
  readonly askers: string[] = [];

  readonly answer: PacketAnswerer['answer'] = (input, at, octets, out, outAt, room) => {
    const { address, at: addressAt, octets: addressOctets } = this.client;
    expect(reader.isInside).toBe(true);
    expect(room).toBe(ROOM);
    this.askers.push(address.slice(addressAt, addressAt + addressOctets).join('.'));
    const text = Buffer.from(input.slice(at, at + octets)).toString();
    if (text === 't') throw new Error('a bug');
    if (text === 's') return 0;
    if (text === 'later') return SLOW_PATH;
    out.set(Buffer.from(`A${text}`), outAt);
    return octets + 1;
  };
}

const reader = {
  isInside: false,
  enter() {
    reader.isInside = true;
  },
  leave() {
    reader.isInside = false;
  },
};

let libc: FakeLibc;
let echo: Echo;
let counters: QueryCounters;
let batch: PacketBatch;
beforeEach(() => {
  libc = new FakeLibc();
  echo = new Echo();
  counters = new QueryCounters();
  batch = new PacketBatch(libc, echo, reader, counters, ROOM);
});

/** The octets of the name are family, port 12345 and the address, which ends in `last`. */
function v4(last: number, text: string, more: Partial<FakePacket> = {}): FakePacket {
  const name = Uint8Array.of(2, 0, 0x30, 0x39, 192, 0, 2, last, ...Array(8).fill(0));
  return { name, octets: Buffer.from(text), ...more };
}

function v6(last: number, text: string, more: Partial<FakePacket> = {}): FakePacket {
  const prefix = [0x20, 1, 0xd, 0xb8];
  const name = Uint8Array.from([
    10,
    0,
    0x30,
    0x39,
    0,
    0,
    0,
    0,
    ...prefix,
    ...Array(11).fill(0),
    last,
    0,
    0,
    0,
    0,
  ]);
  return { name, octets: Buffer.from(text), ...more };
}

function exchange(socket: UdpSocket, ...packets: FakePacket[]): string[] {
  libc.incoming = packets;
  const from = libc.sent.length;
  batch.reply(socket, batch.receive(socket));
  expect(reader.isInside).toBe(false);
  return libc.sent
    .slice(from)
    .map(({ name, octets }) => `${name.at(name.length === 16 ? 7 : 23)} ${Buffer.from(octets)}`);
}

test('a packet of the slow path is posted with its client and address, unless the limit drops it, and leaves no gap', () => {
  const posted: SlowPacket[] = [];
  const admit = vi.fn((_: Echo['client'], octets: number) => octets === 5 && posted.length === 0);
  batch = new PacketBatch(libc, echo, reader, counters, ROOM, {
    limit: { admit },
    post: (packet) => posted.push(packet),
  });
  const packets = [v4(1, 'later'), v4(2, 'two'), v4(3, 'later')];
  expect(exchange(V4, ...packets)).toEqual(['2 Atwo']);
  const octets = new TextEncoder().encode('later');
  expect(posted).toEqual([{ octets, descriptor: 4, name: packets[0]!.name, control: new Uint8Array(0) }]);
  expect(admit).toHaveBeenCalledTimes(2);
});

const timed = () => counters.latency.reduce((sum, count) => sum + count, 0);

describe('a batch of packets', () => {
  test('sends each answer to its client', () => {
    expect(exchange(V4, v4(1, 'one'), v4(2, 'two'))).toEqual(['1 Aone', '2 Atwo']);
    expect(echo.askers).toEqual(['192.0.2.1', '192.0.2.2']);
    expect(exchange(V6, v6(9, 'six'))).toEqual(['9 Asix']);
    expect(echo.askers.at(-1)).toBe('32.1.13.184.0.0.0.0.0.0.0.0.0.0.0.9');
  });

  test('is limited to 64, and leaves the others for the next one', () => {
    const packets = Array.from({ length: 70 }, (_, i) => v4(i, String(i)));
    const answers = packets.map((_, i) => `${i} A${i}`);
    expect(exchange(V4, ...packets)).toEqual(answers.slice(0, BATCH_PACKETS));
    expect(exchange(V4, ...libc.incoming)).toEqual(answers.slice(BATCH_PACKETS));
  });

  test('waits only for the first packet, or for none', () => {
    batch.receive(V4);
    batch.receivePending(V4);
    expect(libc.receiveFlags).toEqual([MSG_WAITFORONE, MSG_DONTWAIT]);
  });

  test('has space for the longest address and control message after shorter ones', () => {
    exchange(V4, v4(1, 'a'), v4(2, 'b', { control: new Uint8Array(32) }));
    const control = new Uint8Array(40);
    expect(exchange(V6, v6(3, 'c', { control }), v6(4, 'd', { control }))).toEqual(['3 Ac', '4 Ad']);
  });

  test('has no gap for a query that has no answer, throws or was truncated', () => {
    expect(exchange(V4, v4(1, 's'), v4(2, 'a'), v4(3, 's'), v4(4, 'b'))).toEqual(['2 Aa', '4 Ab']);
    expect(exchange(V4, v4(1, 's'))).toEqual([]);
    expect(exchange(V4, v4(1, 'a'), v4(2, 't'), v4(3, 'b'))).toEqual(['1 Aa', '3 Ab']);
    expect([counters.unsent, counters.ignored]).toEqual([1, 0]);
    expect(exchange(V4, v4(1, 'a', { flags: MSG_TRUNC }), v4(2, 'b'))).toEqual(['2 Ab']);
    expect([counters.unsent, counters.ignored]).toEqual([1, 1]);
  });

  test('is empty if the wait ends without a packet', () => {
    for (const errno of [EAGAIN, EINTR]) {
      libc.receiveErrno = errno;
      expect(batch.receive(V4)).toBe(0);
    }
    libc.receiveErrno = EINVAL;
    expect(() => batch.receive(V4)).toThrow('recvmmsg EINVAL');
  });
});

test.each<[string, FakeLibc['sends'], string[], unsent: number]>([
  [
    'continues where the system stopped',
    [{ atMost: 1 }, { errno: EINTR }, { atMost: 2 }],
    ['1 Aa', '2 Ab', '3 Ac', '4 Ad'],
    0,
  ],
  ['skips a packet that the system refuses', [{ atMost: 2 }, { errno: EINVAL }], ['1 Aa', '2 Ab', '4 Ad'], 1],
  ['drops the rest if the system can take no more', [{ atMost: 1 }, { errno: EAGAIN }], ['1 Aa'], 3],
])('sending %s', (_, sends, sent, unsent) => {
  libc.sends = [...sends];
  expect(exchange(V4, v4(1, 'a'), v4(2, 'b'), v4(3, 'c'), v4(4, 'd'))).toEqual(sent);
  expect(counters.unsent).toBe(unsent);
  expect(exchange(V4, v4(5, 'e'))).toEqual(['5 Ae']);
});

describe('on a wildcard address', () => {
  const wildcard4: UdpSocket = { ...V4, wildcard: true };
  const wildcard6: UdpSocket = { ...V6, wildcard: true };

  /** struct cmsghdr with struct in_pktinfo or in6_pktinfo. */
  function asked(level: number, type: number, content: readonly number[]): Uint8Array {
    const control = new Uint8Array(16 + Math.ceil(content.length / 8) * 8);
    const view = new DataView(control.buffer);
    view.setBigInt64(0, BigInt(16 + content.length), true);
    view.setInt32(8, level, true);
    view.setInt32(12, type, true);
    control.set(content, 16);
    return control;
  }
  const inPktinfo = (interface_: number) =>
    asked(IPPROTO_IP, IP_PKTINFO, [interface_, 0, 0, 0, 10, 0, 0, 7, 10, 0, 0, 7]);
  const in6Pktinfo = (address: number[], interface_: number) =>
    asked(IPPROTO_IPV6, IPV6_PKTINFO, [...address, interface_, 0, 0, 0]);
  const global6 = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];
  const linkLocal6 = [0xfe, 0x80, ...global6.slice(2)];

  test('an answer is sent from the address that was queried, and a link-local one through the same interface', () => {
    exchange(wildcard4, v4(1, 's'), v4(2, 'a', { control: inPktinfo(3) }));
    exchange(wildcard6, v6(1, 'a', { control: in6Pktinfo(global6, 3) }));
    exchange(wildcard6, v6(1, 'a', { control: in6Pktinfo(linkLocal6, 3) }));
    exchange(wildcard4, v4(1, 'a'), v4(2, 'b', { control: asked(1, 2, [1, 2, 3, 4]) }));
    const controls = [inPktinfo(0), in6Pktinfo(global6, 0), in6Pktinfo(linkLocal6, 3), undefined, undefined];
    expect(libc.sent.map(({ control }) => control)).toEqual(controls);
  });

  test('every third answer is sampled with its query and both addresses, also of another socket', () => {
    const posted: Samples[] = [];
    const parts = { interval: 3, pending: new SharedArrayBuffer(4) };
    const sampler = new Sampler(
      parts,
      counters,
      (samples) => void posted.push(samples),
      () => 0.5,
    );
    batch = new PacketBatch(libc, echo, reader, counters, ROOM, undefined, sampler);
    const local = { address: Uint8Array.of(198, 51, 100, 1), port: 53 };
    exchange({ ...V4, local }, v4(1, 'a'), v4(2, 's'), v4(3, 't'), v4(4, 'bb'), v4(5, 'ccc'));
    exchange({ ...wildcard4, local }, v4(6, 'd'), v4(7, 'e'), v4(8, 'f', { control: inPktinfo(3) }));
    exchange(
      { ...wildcard6, local },
      v6(9, 'g'),
      v6(10, 'h'),
      v6(11, 'i', { control: in6Pktinfo(global6, 3) }),
    );
    exchange(V4, v4(1, 'j'), v4(2, 'k'), v4(3, 'l'));
    expect(posted).toEqual([]);
    batch.rest();
    const [{ octets }] = posted as [Samples];
    const sample = new ReadSample();
    const found: string[] = [];
    for (let at = 0; at < octets.length; ) {
      at = sample.read(octets, new DataView(octets.buffer), at);
      const { address, port, localPort, query, answer } = sample;
      const to = sample.local === undefined ? '-' : printAddress(sample.local);
      found.push(
        `${printAddress(address)}:${port} ${to}:${localPort} ${Buffer.from(query)} ${Buffer.from(answer)}`,
      );
    }
    expect(found).toEqual([
      '192.0.2.5:12345 198.51.100.1:53 ccc Accc',
      '192.0.2.8:12345 10.0.0.7:53 f Af',
      '2001:db8::b:12345 2001:db8::7:53 i Ai',
      '192.0.2.3:12345 -:0 l Al',
    ]);
  });
});

describe('the clock', () => {
  test('is read for the first batch after a pause, and then once per sixteen batches', () => {
    const readings = new Set<number>();
    for (let i = 0; i < 48; i++) {
      echo.nowMs = 0;
      exchange(V4, v4(1, 'a'));
      if (echo.nowMs !== 0) readings.add(i);
    }
    expect([...readings]).toEqual([0, 16, 32]);
    exchange(V4, v4(1, 'a'));
    libc.receiveErrno = EAGAIN;
    batch.receive(V4);
    libc.receiveErrno = 0;
    echo.nowMs = 0;
    const beforeMs = Date.now();
    exchange(V4, v4(1, 'a'));
    expect(echo.nowMs).toBeGreaterThanOrEqual(beforeMs);
    expect(echo.nowMs).toBeLessThanOrEqual(Date.now());
  });

  test('times every answer eventually, those of other batches with the last measured time', () => {
    exchange(V4, v4(1, 'a'), v4(2, 's'));
    expect(timed()).toBe(1);
    for (let i = 0; i < 5; i++) exchange(V4, v4(1, 'a'), v4(2, 'b'));
    expect(timed()).toBe(1);
    batch.rest();
    expect(timed()).toBe(11);
    batch.rest();
    expect(timed()).toBe(11);
    expect(counters.latencySumSeconds).toBeGreaterThan(0);
  });
});
