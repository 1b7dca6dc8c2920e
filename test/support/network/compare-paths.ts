// Compares the answers over XDP with those of the kernel's path to the same queries, octet by octet. Runs in the client's
// namespace. The kernel answers each distinct query once; over XDP it is sent many times.

import { setTimeout as pause } from 'node:timers/promises';
import { addressOctets, Client } from '../../../src/nameserver/answer/client.ts';
import { Cookies } from '../../../src/nameserver/answer/cookies.ts';
import { type Libc, openLibc } from '../../../src/nameserver/threads/libc.ts';
import { queryFor } from '../answer/packets.ts';
import { CLIENT_COOKIE, COOKIE_SECRET, QueryStream } from './compared-queries.ts';
import { BATCH, DatagramSocket } from './datagrams.ts';
import { decodeUdpFrame, encodeUdpFrame } from './frames.ts';
import { ADDRESSES, VLAN, XDP_INTERFACE } from './linked-hosts.ts';

export interface CompareOptions {
  /** Minimum number of queries to compare. Windows are sent as a whole. */
  readonly count: number;
  readonly seed: number;
  /** The node's port at all of its addresses. */
  readonly port: number;
  /** MAC addresses of the two ends of the XDP link. */
  readonly macs: { readonly server: Uint8Array; readonly client: Uint8Array };
}

export interface Comparison {
  equal: number;
  /** Answers that differ only in valid cookies made at different times. */
  laterCookies: number;
  /** Queries that neither path answers. */
  silent: number;
  wrong: number;
  /** Packets that were sent again over XDP, because no answer arrived. */
  lost: number;
  /** Descriptions of the first wrong answers. */
  readonly examples: string[];
}

type Family = 'ipv4' | 'ipv6';
const FAMILIES: readonly Family[] = ['ipv4', 'ipv6'];
/** Maximum number of distinct queries of a family. */
const MAX_DISTINCT = 125_000;
/** Number of queries in flight, which the node's rings can hold. */
const WINDOW = 512;
const MAX_EXAMPLES = 10;
/** Ends a hopeless comparison. */
const MAX_WRONG = 1000;
/** Time without an answer before the client stops polling continuously. */
const SPIN_MS = 3;
/** Times without an answer before queries are sent again. After the last one, a missing answer is wrong. */
const WAITS_MS = [100, 200, 400, 800, 1600];
/** Number of times that the kernel's path gets a query before it counts as silent. */
const KERNEL_TRIES = 3;
/** The head of a cookie option with a server cookie, and offsets in its value. */
const COOKIE_HEAD = Buffer.of(0, 10, 0, 24);
const COOKIE_TIME = 12;
const COOKIE_OCTETS = 24;
const TAG = 0x6000 | VLAN; // with a priority
const KERNEL_PORT = 5300;
const XDP_PORT = 5400;
const MAX_FRAME_PAYLOAD = 1500 - 48; // after the headers of IPv6 and UDP

/** Requests a cookie. It is the last query of each window, and answered after the others. */
const LAST = queryFor('www.example.test.', 1, { opt: `cookie:${CLIENT_COOKIE}` });

export async function comparePaths(options: CompareOptions): Promise<Comparison> {
  const libc = await openLibc();
  const stream = new QueryStream(options.seed);
  const result: Comparison = { equal: 0, laterCookies: 0, silent: 0, wrong: 0, lost: 0, examples: [] };
  const openers = [SocketPath, FramePath];
  const count = Math.ceil(options.count / (FAMILIES.length * openers.length));
  for (const family of FAMILIES) {
    const corpus = await askKernel(libc, family, stream, Math.min(count, MAX_DISTINCT), options);
    for (const Opener of openers) {
      const path = new Opener(libc, family, corpus, options);
      try {
        await compare(path, corpus, count, result);
      } finally {
        path.close();
      }
    }
  }
  return result;
}

/** Sends queries of a corpus, which are numbered. */
interface Path {
  readonly name: string;
  canSend(i: number): boolean;
  send(numbers: readonly number[]): void;
  /** Calls `take` with the id of each answer that has arrived. Returns the number of packets. */
  receive(take: (id: number, packet: Uint8Array) => void): number;
  /** Returns true if the packet is the expected one with the kernel's answer to query `i`. Much faster than `messageIn`. */
  isEqual(i: number, packet: Uint8Array): boolean;
  /** Returns undefined if the packet has faults. */
  messageIn(packet: Uint8Array): Uint8Array | undefined;
  close(): void;
}

/** Queries of one client with the kernel's answers. The id of a query is the end of its number. */
class Corpus {
  readonly queries: readonly Buffer[];
  /** Undefined if the kernel's path is silent. */
  readonly answers: (Buffer | undefined)[];
  readonly #cookies = new Cookies([Buffer.from(COOKIE_SECRET, 'hex')]);
  readonly #client = new Client();

  constructor(family: Family, queries: readonly Buffer[]) {
    this.queries = queries;
    this.answers = queries.map(() => undefined);
    this.#client.set(0, addressOctets(ADDRESSES.client[family]));
    for (const [i, query] of queries.entries()) query.writeUInt16BE(i & 0xffff, 0);
  }

  /** Returns the offset of the valid server cookie in an answer, or -1. */
  cookieIn(answer: Uint8Array): number {
    const octets = Buffer.from(answer.buffer, answer.byteOffset, answer.length);
    const at = octets.lastIndexOf(COOKIE_HEAD) + COOKIE_HEAD.length;
    if (at < COOKIE_HEAD.length || at + COOKIE_OCTETS > octets.length) return -1;
    const view = new DataView(octets.buffer, octets.byteOffset, octets.length);
    const nowSeconds = Math.floor(Date.now() / 1000) | 0;
    return this.#cookies.judge(view, at, COOKIE_OCTETS, this.#client, nowSeconds) === 'invalid' ? -1 : at;
  }

  /** Returns true if an answer differs from the kernel's to query `i` only in the time and the hash of a valid cookie. */
  hasOtherCookie(i: number, answer: Uint8Array): boolean {
    const expected = this.answers[i];
    const at = this.cookieIn(answer);
    if (expected === undefined || at < 0 || expected.length !== answer.length) return false;
    return [
      [0, at + COOKIE_TIME],
      [at + COOKIE_OCTETS, answer.length],
    ].every(([from, to]) => expected.subarray(from, to).equals(answer.subarray(from, to)));
  }
}

async function askKernel(
  libc: Libc,
  family: Family,
  stream: QueryStream,
  count: number,
  options: CompareOptions,
): Promise<Corpus> {
  const first = await answered(libc, family, [Buffer.from(LAST)], options);
  const answer = first.answers[0] as Buffer;
  const at = first.cookieIn(answer);
  if (at < 0) throw new Error('the node has no cookie, or another secret');
  stream.cookie = answer.subarray(at, at + COOKIE_OCTETS).toString('hex');
  const queries = Array.from({ length: count }, (_, i) => {
    if ((i + 1) % WINDOW === 0 || i === count - 1) return Buffer.from(LAST);
    for (;;) {
      const query = stream.next();
      if (query.length >= 2) return query; // it has an id
    }
  });
  return await answered(libc, family, queries, options);
}

/** Fills in the kernel's answers. */
async function answered(
  libc: Libc,
  family: Family,
  queries: readonly Buffer[],
  options: CompareOptions,
): Promise<Corpus> {
  const corpus = new Corpus(family, queries);
  const path = new SocketPath(libc, family, corpus, options, 'kernel');
  try {
    for (const window of windowsOf(corpus)) {
      const last = window.at(-1) as number;
      for (let tries = 0; tries < KERNEL_TRIES; tries++) {
        const open = new Set([last]);
        const unanswered = window.filter((i) => i === last || corpus.answers[i] === undefined);
        await exchange(path, unanswered, open, (i, message) => {
          corpus.answers[i] ??= Buffer.from(message);
          open.delete(i);
        });
        if (open.size > 0) throw new Error(`the node does not answer through the kernel over ${family}`);
      }
    }
  } finally {
    path.close();
  }
  return corpus;
}

/** Yields the numbers of consecutive queries. */
function* windowsOf({ queries }: Corpus): Generator<number[]> {
  for (let first = 0; first < queries.length; first += WINDOW) {
    const length = Math.min(WINDOW, queries.length - first);
    yield Array.from({ length }, (_, i) => first + i);
  }
}

async function compare(path: Path, corpus: Corpus, count: number, result: Comparison): Promise<void> {
  for (let compared = 0; compared < count; )
    for (const window of windowsOf(corpus)) {
      if (compared >= count || result.wrong >= MAX_WRONG) return;
      await compareWindow(
        path,
        corpus,
        window.filter((i) => path.canSend(i)),
        result,
      );
      compared += window.length;
    }
}

async function compareWindow(
  path: Path,
  corpus: Corpus,
  numbers: readonly number[],
  result: Comparison,
): Promise<void> {
  const open = new Set(numbers.filter((i) => corpus.answers[i] !== undefined));
  const silent = new Set(numbers.filter((i) => !open.has(i)));
  const wrong = (i: number, packet?: Uint8Array) => {
    result.wrong++;
    if (result.examples.length >= MAX_EXAMPLES) return;
    const hex = (octets?: Uint8Array) => (octets ? Buffer.from(octets).toString('hex') : 'silence');
    const [query, answer] = [corpus.queries[i], corpus.answers[i]].map(hex);
    result.examples.push(`${path.name}: ${query} got ${hex(packet)} over XDP, ${answer} from the kernel`);
  };
  result.lost += await exchange(path, numbers, open, (i, packet) => {
    if (silent.delete(i)) wrong(i, packet);
    else if (!open.delete(i))
      return; // the second answer to a query that was sent again
    else if (path.isEqual(i, packet)) result.equal++;
    else {
      const message = path.messageIn(packet) ?? Buffer.alloc(0);
      if (corpus.answers[i]?.equals(message)) result.equal++;
      else if (corpus.hasOtherCookie(i, message)) result.laterCookies++;
      else wrong(i, packet);
    }
  });
  result.silent += silent.size;
  for (const i of open) wrong(i);
}

/**
 * Sends queries of a window, and calls `take` with the answers until it has removed all queries from `open`. Returns the
 * number of packets that were sent again.
 */
async function exchange(
  path: Path,
  numbers: readonly number[],
  open: ReadonlySet<number>,
  take: (i: number, packet: Uint8Array) => void,
): Promise<number> {
  const [first = 0, last = 0] = [numbers[0], numbers.at(-1)];
  const receive = () =>
    path.receive((id, packet) => {
      const i = first + ((id - first) & 0xffff);
      if (i <= last) take(i, packet); // otherwise a late answer
    });
  let resent = 0;
  for (const [tries, waitMs] of WAITS_MS.entries()) {
    const sent = tries === 0 ? numbers : [...open];
    if (tries > 0) resent += sent.length;
    for (let at = 0; at < sent.length; at += BATCH) {
      path.send(sent.slice(at, at + BATCH));
      receive();
    }
    for (let since = performance.now(); open.size > 0; ) {
      if (receive() > 0) since = performance.now();
      const waitedMs = performance.now() - since;
      if (waitedMs > waitMs) break;
      if (waitedMs > SPIN_MS) await pause(1);
    }
    if (open.size === 0) break;
  }
  return resent;
}

class SocketPath implements Path {
  readonly name: string;
  readonly #corpus: Corpus;
  readonly #socket: DatagramSocket;

  constructor(
    libc: Libc,
    family: Family,
    corpus: Corpus,
    { port }: CompareOptions,
    side: 'xdp' | 'kernel' = 'xdp',
  ) {
    this.name = family;
    this.#corpus = corpus;
    const from = (side === 'xdp' ? XDP_PORT : KERNEL_PORT) + FAMILIES.indexOf(family);
    const client = { address: ADDRESSES.client[family], port: from };
    this.#socket = DatagramSocket.udp(libc, client, { address: ADDRESSES[side][family], port });
  }

  canSend(): boolean {
    return true;
  }

  send(numbers: readonly number[]): void {
    this.#socket.send(numbers.map((i) => this.#corpus.queries[i] as Buffer));
  }

  receive(take: (id: number, packet: Uint8Array) => void): number {
    return this.#socket.receive((message) => take(idAt(message, 0), message));
  }

  isEqual(i: number, message: Uint8Array): boolean {
    return this.#corpus.answers[i]?.equals(message) === true;
  }

  messageIn(message: Uint8Array): Uint8Array {
    return message;
  }

  close(): void {
    this.#socket.close();
  }
}

/** A path of VLAN-tagged frames on the XDP link. */
class FramePath implements Path {
  readonly name: string;
  readonly #corpus: Corpus;
  readonly #socket: DatagramSocket;
  readonly #frames: readonly Buffer[];
  readonly #reply: (message: Uint8Array) => Buffer;
  /** The frames with the kernel's answers, as far as they have been compared. */
  readonly #expected: Buffer[] = [];
  readonly #messageAt: number;
  /** The headers of answers up to the IP version, and the ports. */
  readonly #head: Buffer;
  readonly #ports: Buffer;

  constructor(libc: Libc, family: Family, corpus: Corpus, { macs, port }: CompareOptions) {
    this.name = `${family} in a VLAN`;
    this.#corpus = corpus;
    const client = { mac: macs.client, address: ADDRESSES.client[family], port: XDP_PORT + 100 };
    const server = { mac: macs.server, address: ADDRESSES.xdp[family], port };
    this.#frames = corpus.queries.map((query) =>
      encodeUdpFrame({ from: client, to: server, tag: TAG }, query),
    );
    this.#reply = (message) => encodeUdpFrame({ from: server, to: client, tag: TAG }, message);
    const empty = this.#reply(Buffer.alloc(0));
    this.#messageAt = empty.length;
    this.#head = empty.subarray(0, 18);
    this.#ports = empty.subarray(-8, -4);
    this.#socket = DatagramSocket.frames(libc, XDP_INTERFACE);
  }

  canSend(i: number): boolean {
    return (this.#corpus.queries[i] as Buffer).length <= MAX_FRAME_PAYLOAD;
  }

  send(numbers: readonly number[]): void {
    this.#socket.send(numbers.map((i) => this.#frames[i] as Buffer));
  }

  receive(take: (id: number, packet: Uint8Array) => void): number {
    const at = this.#messageAt;
    return this.#socket.receive((frame) => {
      if (frame.length < at + 2 || !this.#head.equals(frame.subarray(0, this.#head.length))) return;
      if (this.#ports.equals(frame.subarray(at - 8, at - 4))) take(idAt(frame, at), frame);
    });
  }

  isEqual(i: number, frame: Uint8Array): boolean {
    this.#expected[i] ??= this.#reply(this.#corpus.answers[i] as Buffer);
    return (this.#expected[i] as Buffer).equals(frame);
  }

  messageIn(packet: Uint8Array): Uint8Array | undefined {
    const frame = decodeUdpFrame(packet);
    return frame?.faults.length === 0 ? frame.payload : undefined;
  }

  close(): void {
    this.#socket.close();
  }
}

function idAt(octets: Uint8Array, at: number): number {
  return ((octets[at] as number) << 8) | (octets[at + 1] as number);
}
