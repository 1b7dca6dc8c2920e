import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FrameStream } from '../../../src/nameserver/observe/frame-stream.ts';
import { until } from '../../support/tests/until.ts';

const CONTENT = 'protobuf:dnstap.Dnstap';
const MIB = 1 << 20;
const LIMITS = {
  maxQueuedOctets: 4 * MIB,
  reconnectMs: 20,
  acceptTimeoutMs: 60_000,
  readTimeoutMs: 60_000,
  finishTimeoutMs: 60_000,
};

/** Control frames as the specification of Frame Streams has them. */
const control = (type: number, content = CONTENT) => {
  const field =
    content === ''
      ? ''
      : `00000001${content.length.toString(16).padStart(8, '0')}${Buffer.from(content).toString('hex')}`;
  const length = 4 + field.length / 2;
  return Buffer.from(`00000000${length.toString(16).padStart(8, '0')}0000000${type}${field}`, 'hex');
};
const [ACCEPT, START, STOP, READY, FINISH] = [
  control(1),
  control(2),
  control(3, ''),
  control(4),
  control(5, ''),
];

/** A reader that shows what it received. */
class Reader {
  readonly server: Server;
  readonly connections: { socket: Socket; received: Buffer }[] = [];

  constructor(path: string | number, onConnection: (socket: Socket) => void = () => {}) {
    this.server = createServer((socket) => {
      const connection = { socket, received: Buffer.alloc(0) };
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        connection.received = Buffer.concat([connection.received, chunk]);
      });
      this.connections.push(connection);
      onConnection(socket);
    }).listen(path);
  }

  get received(): Buffer {
    return this.connections.at(-1)?.received ?? Buffer.alloc(0);
  }

  send(...octets: Uint8Array[]): void {
    this.connections.at(-1)?.socket.write(Buffer.concat(octets));
  }

  close(): void {
    this.server.close();
    for (const { socket } of this.connections) socket.destroy();
  }
}

let directory: string;
let path: string;
let counts: { sent: number; unread: number; queued: number };
let stream: FrameStream | undefined;
const readers: Reader[] = [];
const logged: string[] = [];
const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line).reason) });

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-frames-'));
  path = join(directory, 'socket');
  counts = { sent: 0, unread: 0, queued: 0 };
  logged.length = 0;
});
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.close();
  await stream?.close();
  rmSync(directory, { recursive: true, force: true });
});

function read(onConnection?: (socket: Socket) => void, at: string | number = path): Reader {
  const reader = new Reader(at, onConnection);
  readers.push(reader);
  return reader;
}

function open(limits: Partial<typeof LIMITS> = {}, port?: number): FrameStream {
  const to =
    port === undefined
      ? ({ kind: 'unix', path } as const)
      : ({ kind: 'tcp', host: '127.0.0.1', port } as const);
  const counting = {
    countSent: (frames: number) => {
      counts.sent += frames;
    },
    countDropped: (why: 'unread' | 'queued', frames: number) => {
      counts[why] += frames;
    },
  };
  stream = new FrameStream(to, CONTENT, counting, log, { ...LIMITS, ...limits });
  return stream;
}

describe('a frame stream', () => {
  it.each([
    'a unix socket',
    'TCP',
  ])('sends READY, START, frames and STOP, each in its turn, over %s', async (kind) => {
    const reader = kind === 'TCP' ? read(undefined, 0) : read();
    await once(reader.server, 'listening');
    const address = reader.server.address();
    const writer = open({}, typeof address === 'string' ? undefined : address?.port);
    await until(() => reader.received.equals(READY), 'READY');
    writer.send(Buffer.from('early'), 2);
    reader.send(ACCEPT.subarray(0, 9)); // in two parts
    reader.send(ACCEPT.subarray(9));
    await until(() => writer.isAccepted, 'ACCEPT');
    const frames = Buffer.from('frames');
    writer.send(frames, 3);
    const closed = writer.close();
    const all = Buffer.concat([READY, START, frames, STOP]);
    await until(() => reader.received.equals(all), 'everything');
    reader.send(FINISH);
    await closed;
    expect(counts).toEqual({ sent: 3, unread: 2, queued: 0 });
  });

  it('connects again to a reader that starts later, and to one that ended', async () => {
    const writer = open();
    writer.send(Buffer.of(1), 1);
    for (let i = 0; i < 2; i++) {
      const reader = read((socket) => socket.write(ACCEPT));
      await until(() => writer.isAccepted, 'a reader accepts');
      reader.close();
      await until(() => !writer.isAccepted, 'the reader has ended');
    }
    expect(counts.unread).toBe(1);
    expect(logged).toEqual([expect.stringContaining('ENOENT')]); // once per minute
  });

  it.each([
    ['data instead of a control frame', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['a control frame of 2 GiB', Buffer.from('000000007fffffff00000001', 'hex')],
    ['an unknown control frame', control(9)],
    ['a field that exceeds its frame', Buffer.from('000000000000000c000000010000000100000009', 'hex')],
    ['FINISH before it has accepted', FINISH],
    ['ACCEPT with another content type', control(1, 'protobuf:other')],
    ['ACCEPT twice', Buffer.concat([ACCEPT, ACCEPT])],
    ['megabytes of data', Buffer.alloc(4 * MIB)],
  ])('leaves a reader that sends %s', async (_, sent) => {
    const reader = read((socket) => socket.write(sent));
    const writer = open();
    await until(() => reader.connections.length >= 2, 'it connects again');
    writer.send(Buffer.of(1), 1);
    expect(counts.sent).toBe(0);
  });

  it('leaves a reader that does not accept in time', async () => {
    const reader = read();
    open({ acceptTimeoutMs: 20 });
    await until(() => reader.connections.length >= 2, 'it connects again');
    expect(logged).toEqual([expect.stringMatching(/ENOENT|accepted the stream in time/)]);
  });

  it('queues at most 4 MiB for a reader that stalls, and leaves it after a time', async () => {
    const reader = read((socket) => {
      socket.pause();
      socket.write(ACCEPT);
    });
    const writer = open({ readTimeoutMs: 200 });
    await until(() => writer.isAccepted, 'the reader accepts');
    const part = Buffer.alloc(MIB);
    for (let i = 0; i < 10; i++) writer.send(part, 10);
    expect(counts.sent + counts.queued).toBe(100);
    expect(counts.queued).toBeGreaterThanOrEqual(50);
    await until(() => reader.connections.length >= 2, 'it connects again');
  });
});
