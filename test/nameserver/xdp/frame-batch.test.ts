import { beforeEach, describe, expect, it } from 'vitest';
import { type GroupAnswerer, SLOW_PATH } from '../../../src/nameserver/answer/answer-query.ts';
import { Client } from '../../../src/nameserver/answer/client.ts';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import { ReadSample } from '../../../src/nameserver/observe/sample-record.ts';
import { Sampler, type Samples } from '../../../src/nameserver/observe/sampler.ts';
import { packetOf } from '../../../src/nameserver/udp/slow-frame.ts';
import { FrameBatch, type SlowFrame } from '../../../src/nameserver/xdp/frame-batch.ts';
import { FRAME_BYTES, MEMORY_BYTES, SLOTS } from '../../../src/nameserver/xdp/queue-memory.ts';
import type { Ring } from '../../../src/nameserver/xdp/rings.ts';
import { decodeUdpFrame } from '../../support/network/frames.ts';
import { type Family, frameOf } from '../../support/network/query-frames.ts';

const memory = new Uint8Array(MEMORY_BYTES);
const ring = (slots: number, words: number): Ring => ({
  producer: new Int32Array(1),
  consumer: new Int32Array(1),
  flags: new Int32Array(1),
  words: new Int32Array(slots * words),
});

/** Answers 'A' and the octets of the query, as far as there is room; 'silent', 'later' and 'bug' do what they say. */
class Echo implements Omit<GroupAnswerer, 'answer'> {
  nowMs = 0;
  readonly client = new Client();
  readonly rooms: number[] = [];
  readonly clients: string[] = [];
  readonly #queries: [input: Uint8Array, at: number, octets: number][] = [];
  read(i: number, ...query: [Uint8Array, number, number]): void {
    this.#queries[i] = query;
  }
  load(): void {}
  readonly answerRead: GroupAnswerer['answerRead'] = (i, out, outAt, room) => {
    const [input, at, octets] = this.#queries[i] as [Uint8Array, number, number];
    const { address, at: from, octets: length } = this.client;
    this.clients.push(Buffer.from(address.subarray(from, from + length)).toString('hex'));
    this.rooms.push(room);
    const text = Buffer.from(input.slice(at, at + octets)).toString();
    if (text === 'bug') throw new Error('a bug');
    if (text === 'silent') return 0;
    if (text === 'later') return SLOW_PATH;
    const answer = Buffer.from(`A${text}`).subarray(0, room);
    // Writes first, so that the test fails if the answer overlaps with the query.
    out.fill(0, outAt, outAt + room);
    out.set(Buffer.concat([Buffer.from('A'), input.subarray(at, at + octets)]).subarray(0, room), outAt);
    return answer.length;
  };
}

const set = {
  fill: ring(SLOTS.fill, 2),
  receive: ring(SLOTS.receive, 4),
  send: ring(SLOTS.send, 4),
  completion: ring(SLOTS.completion, 2),
};
const reader = { enter() {}, leave() {} };
const slow: SlowFrame[] = [];
let echo: Echo;
let counters: QueryCounters;
let batch: FrameBatch;
let samples: Samples[];

beforeEach(() => {
  for (const { producer, consumer } of Object.values(set)) producer[0] = consumer[0] = 0;
  echo = new Echo();
  counters = new QueryCounters();
  slow.length = 0;
  samples = [];
  const sampling = { interval: 1, pending: new SharedArrayBuffer(4) };
  const sampler = new Sampler(sampling, counters, (one) => samples.push(one));
  const slowPath = { limit: { admit: () => true }, post: (frame: SlowFrame) => slow.push(frame) };
  const answerer = echo as unknown as GroupAnswerer;
  batch = new FrameBatch({ bytes: memory, rings: set }, answerer, reader, counters, slowPath, sampler);
  batch.mtu = 1500;
});

/** Answers the frames. Returns the decoded replies. */
function answer(...frames: Buffer[]) {
  for (const [i, octets] of frames.entries()) {
    const address = i * FRAME_BYTES + 256;
    memory.set(octets, address);
    set.receive.words.set([address, 0, octets.length, 0], 4 * i);
  }
  set.receive.producer[0] = frames.length;
  batch.reply(frames.length);
  const sent = set.send.producer[0] as number;
  expect(sent + (set.fill.producer[0] as number)).toBe(frames.length);
  return Array.from({ length: sent }, (_, i) => {
    const [address = 0, , octets = 0] = set.send.words.subarray(4 * i, 4 * i + 3);
    expect(Math.floor(address / FRAME_BYTES)).toBe(Math.floor((address + octets - 1) / FRAME_BYTES));
    const reply = decodeUdpFrame(memory.subarray(address, address + octets));
    expect(reply?.faults).toEqual([]);
    return reply;
  });
}

const texts = (replies: ReturnType<typeof answer>) =>
  replies.map((reply) => Buffer.from(reply?.payload ?? []).toString());

describe('FrameBatch', () => {
  it('answers each query with its client, and frees the frames without an answer', () => {
    const malformed = frameOf('ipv4', Buffer.from('x'));
    malformed[41] = 1;
    const replies = answer(
      frameOf('ipv4', Buffer.from('one and some octets')),
      malformed,
      frameOf('ipv6', Buffer.from('two')),
      frameOf('ipv4', Buffer.from('silent')),
      frameOf('ipv4', Buffer.from('bug')),
      frameOf('ipv6', Buffer.from('three')),
    );
    expect(texts(replies)).toEqual(['Aone and some octets', 'Atwo', 'Athree']);
    expect(echo.clients[0]).toBe('c6336407');
    expect(echo.clients[1]).toBe('20010db8000100000000000000000007');
    expect([counters.ignored, counters.unsent]).toEqual([1, 1]);
    expect(set.receive.consumer[0]).toBe(6);
  });

  it.each(['ipv4', 'ipv6'] as const)('answers %s queries of every length', (family) => {
    for (const octets of [1, 380, 389, 390, 391, 392, 400, 460, 500, 900, 1231]) {
      for (const { producer, consumer } of Object.values(set)) producer[0] = consumer[0] = 0;
      batch = new FrameBatch(
        { bytes: memory, rings: set },
        echo as unknown as GroupAnswerer,
        reader,
        counters,
      );
      batch.mtu = 1500;
      const query = 'q'.repeat(octets);
      expect(texts(answer(frameOf(family, Buffer.from(query))))).toEqual([`A${query}`]);
    }
  });

  it.each([
    [1500, 'ipv4', 1232],
    [1260, 'ipv4', 1232],
    [1259, 'ipv4', 1231],
    [1280, 'ipv6', 1232],
    [1279, 'ipv6', 1231],
    [500, 'ipv6', 512],
    [0, 'ipv4', 512],
  ] as const)('gives an answer at an MTU of %i over %s at most %i octets', (mtu, family, room) => {
    batch.mtu = mtu;
    answer(frameOf(family, Buffer.from('query')));
    expect(echo.rooms).toEqual([room]);
  });

  it('samples answers with their addresses and ports', () => {
    answer(frameOf('ipv4', Buffer.from('query of a client')));
    batch.rest();
    const sample = new ReadSample();
    const octets = samples[0]?.octets ?? new Uint8Array();
    sample.read(octets, new DataView(octets.buffer), 0);
    expect([sample.port, sample.localPort, Buffer.from(sample.query).toString()]).toEqual([
      40_000,
      53,
      'query of a client',
    ]);
    expect(counters.latency.reduce((sum, count) => sum + count, 0)).toBe(1);
  });
});

describe('packetOf', () => {
  const socket = (descriptor: number, address: number[], wildcard = false, port = 53) => ({
    descriptor,
    ipv6: address.length === 16,
    wildcard,
    local: { address: Uint8Array.from(address), port },
  });
  const zeros = (count: number) => Array<number>(count).fill(0);
  const convert = (family: Family, sockets: Parameters<typeof packetOf>[1], source?: string) => {
    answer(frameOf(family, Buffer.from('later'), source));
    return packetOf(slow[0] as SlowFrame, sockets, 9);
  };
  const own = [192, 0, 2, 1];

  it('prefers the socket of the address to a wildcard socket', () => {
    const sockets = [
      socket(1, zeros(4), true),
      socket(2, [192, 0, 2, 2]),
      socket(3, own, false, 5300),
      socket(4, own),
    ];
    const packet = convert('ipv4', sockets);
    expect(packet?.descriptor).toBe(4);
    expect(Buffer.from(packet?.name ?? []).toString('hex')).toBe(
      `0200${(40_000).toString(16)}c63364070000000000000000`,
    );
    expect([packet?.control.length, Buffer.from(packet?.octets ?? []).toString()]).toEqual([0, 'later']);
  });

  it('sets the source address at a wildcard socket', () => {
    const v4 = convert('ipv4', [socket(1, zeros(4), true)]);
    expect(Buffer.from(v4?.control ?? []).toString('hex')).toBe(
      '1c00000000000000' + '00000000' + '08000000' + '00000000' + 'c0000201' + '00000000' + '00000000',
    );
  });

  it('keeps the interface of a link-local client', () => {
    const v6 = convert('ipv6', [socket(1, zeros(16), true)], 'fe80::1');
    expect(Buffer.from(v6?.name ?? []).readUInt32LE(24)).toBe(9);
    expect(v6?.control.length).toBe(40);
  });

  it('returns undefined without a socket of the family', () => {
    expect(convert('ipv4', [socket(1, zeros(16), true)])).toBeUndefined();
  });
});
