// Sends the same queries over XDP and through the kernel, and compares the answers octet by octet. Runs in the client's
// namespace.

import { EDNS_OPTION } from '../../../src/dns/message/edns.ts';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { type Libc, openLibc } from '../../../src/nameserver/threads/libc.ts';
import { queryFor } from '../answer/packets.ts';
import { CLIENT_COOKIE, QueryStream } from './compared-queries.ts';
import { BATCH, DatagramSocket } from './datagrams.ts';
import { decodeUdpFrame, encodeUdpFrame, type Route } from './frames.ts';
import { ADDRESSES, XDP_INTERFACE } from './linked-hosts.ts';

export interface CompareOptions {
  readonly count: number;
  readonly seed: number;
  /** The node's port at all of its addresses. */
  readonly port: number;
  /** MAC addresses of the two ends of the XDP link. */
  readonly macs: { readonly server: Uint8Array; readonly client: Uint8Array };
}

export interface Comparison {
  /** Pairs of equal answers. */
  equal: number;
  /** Queries that neither path answered. */
  silent: number;
  /** Pairs of answers that differ only in cookies made in different seconds. */
  laterCookies: number;
  resent: number;
  wrong: number;
  /** Descriptions of the first wrong pairs. */
  readonly examples: string[];
}

/** Sends datagrams, and returns their answers. */
interface Path {
  /** Length of the longest query. */
  readonly maxOctets: number;
  send(queries: readonly Buffer[]): void;
  receive(take: (answer: Uint8Array) => void): number;
  close(): void;
}

const MAX_EXAMPLES = 10;
/** Ends a hopeless comparison, in which every query would wait for its answer. */
const MAX_WRONG = 1000;
/** Time without an answer before the client stops polling continuously, and before it sends queries again. */
const SPIN_MS = 3;
const RESEND_AFTER_MS = 300;
const TRIES = 6;
const COOKIE_OCTETS = 24;
/** A priority and a VLAN id. */
const TAG = 0x6007;
const KERNEL_PORT = 5300;
const XDP_PORT = 5400;
const MAX_FRAME_PAYLOAD = 1500 - 48; // after the headers of IPv6 and UDP
const FAMILIES = ['ipv4', 'ipv6'] as const;

export async function comparePaths(options: CompareOptions): Promise<Comparison> {
  const libc = await openLibc();
  const stream = new QueryStream(options.seed);
  const result: Comparison = { equal: 0, silent: 0, laterCookies: 0, resent: 0, wrong: 0, examples: [] };
  const pairs = FAMILIES.flatMap((family, i) => {
    const kernel = (port: number) => socketPath(libc, family, 'kernel', KERNEL_PORT + i + port, options);
    return [
      { name: family, xdp: socketPath(libc, family, 'xdp', XDP_PORT + i, options), kernel: kernel(0) },
      { name: `${family} in a VLAN`, xdp: framePath(libc, family, options), kernel: kernel(10) },
    ];
  });
  try {
    for (let compared = 0, id = 0; compared < options.count && result.wrong < MAX_WRONG; ) {
      const batches = pairs.map((pair) => {
        const queries = Array.from({ length: BATCH - 1 }, () => stream.next());
        id += BATCH;
        return new Batch(pair, queries, id, result);
      });
      await untilAnswered(batches);
      for (const batch of batches) compared += batch.judge();
      stream.cookie = batches[0]?.cookie() ?? stream.cookie;
    }
  } finally {
    for (const { xdp, kernel } of pairs) {
      xdp.close();
      kernel.close();
    }
  }
  return result;
}

/** The last query of a batch, which both paths answer after all others. It requests a cookie. */
const LAST = queryFor('www.example.test.', 1, { opt: `cookie:${CLIENT_COOKIE}` });

interface Pair {
  readonly name: string;
  readonly xdp: Path;
  readonly kernel: Path;
}

/** Queries that were sent over both paths, and their answers. */
class Batch {
  readonly #pair: Pair;
  readonly #result: Comparison;
  readonly #queries: readonly Buffer[];
  readonly #numberOf = new Map<number, number>();
  readonly #xdp = new Map<number, Buffer>();
  readonly #kernel = new Map<number, Buffer>();

  constructor(pair: Pair, queries: readonly Buffer[], firstId: number, result: Comparison) {
    this.#pair = pair;
    this.#result = result;
    const sendable = [...queries.filter(({ length }) => length >= 2 && length <= pair.xdp.maxOctets), LAST];
    this.#queries = sendable.map((query, i) => {
      const copy = Buffer.from(query);
      const id = (firstId + i) & 0xffff;
      copy.writeUInt16BE(id, 0);
      this.#numberOf.set(id, i);
      return copy;
    });
    pair.xdp.send(this.#queries);
    pair.kernel.send(this.#queries);
  }

  /** Returns the number of answers that have arrived. */
  receive(): number {
    const take = (into: Map<number, Buffer>) => (answer: Uint8Array) => {
      const i = this.#numberOf.get(((answer[0] as number) << 8) | (answer[1] as number));
      if (i !== undefined) into.set(i, Buffer.from(answer));
    };
    return this.#pair.xdp.receive(take(this.#xdp)) + this.#pair.kernel.receive(take(this.#kernel));
  }

  get isAnswered(): boolean {
    return (
      this.#missing(this.#xdp, this.#kernel).length + this.#missing(this.#kernel, this.#xdp).length === 0
    );
  }

  /** Sends queries again that only the other path has answered. */
  resend(): void {
    for (const [path, mine, other] of [
      [this.#pair.xdp, this.#xdp, this.#kernel],
      [this.#pair.kernel, this.#kernel, this.#xdp],
    ] as const) {
      const again = this.#missing(mine, other);
      this.#result.resent += again.length;
      path.send(again.map((i) => this.#queries[i] as Buffer));
    }
  }

  #missing(mine: ReadonlyMap<number, Buffer>, other: ReadonlyMap<number, Buffer>): number[] {
    const expected = new Set(other.keys()).add(this.#queries.length - 1);
    return [...expected].filter((i) => !mine.has(i));
  }

  /** Returns the number of queries. */
  judge(): number {
    for (const [i, query] of this.#queries.entries())
      judge(this.#pair.name, query, this.#xdp.get(i), this.#kernel.get(i), this.#result);
    return this.#queries.length;
  }

  /** Returns the server's cookie for the client, in hexadecimal. */
  cookie(): string | undefined {
    return cookieIn(this.#kernel.get(this.#queries.length - 1))?.toString('hex');
  }
}

async function untilAnswered(batches: readonly Batch[]): Promise<void> {
  const open = new Set(batches);
  for (let tries = 1, since = performance.now(); open.size > 0; ) {
    let received = 0;
    for (const batch of open) received += batch.receive();
    if (received > 0) {
      since = performance.now();
      continue;
    }
    for (const batch of open) if (batch.isAnswered) open.delete(batch);
    const waitedMs = performance.now() - since;
    if (waitedMs > SPIN_MS) await new Promise((done) => setTimeout(done, 1));
    if (waitedMs < RESEND_AFTER_MS) continue;
    if (tries++ === TRIES) return;
    since = performance.now();
    for (const batch of open) batch.resend();
  }
}

function judge(
  name: string,
  query: Buffer,
  xdp: Buffer | undefined,
  kernel: Buffer | undefined,
  result: Comparison,
): void {
  if (xdp === undefined && kernel === undefined) result.silent++;
  else if (xdp !== undefined && kernel !== undefined && xdp.equals(kernel)) result.equal++;
  else if (xdp !== undefined && kernel !== undefined && differInTime(xdp, kernel)) result.laterCookies++;
  else {
    result.wrong++;
    if (result.examples.length >= MAX_EXAMPLES) return;
    const hex = (octets: Buffer | undefined) => octets?.toString('hex') ?? 'silence';
    result.examples.push(`${name}: ${hex(query)} got ${hex(xdp)} over XDP, ${hex(kernel)} from the kernel`);
  }
}

/** Returns true if only the time and the hash of the server's cookie differ. */
function differInTime(one: Buffer, other: Buffer): boolean {
  const [cookie, otherCookie] = [cookieIn(one), cookieIn(other)];
  if (cookie?.length !== COOKIE_OCTETS || otherCookie?.length !== COOKIE_OCTETS) return false;
  const apart = Math.abs(cookie.readUInt32BE(12) - otherCookie.readUInt32BE(12));
  if (apart === 0 || apart > 5) return false;
  const blank = (message: Buffer, value: Buffer) => {
    const copy = Buffer.from(message);
    return copy.fill(0, copy.indexOf(value) + 12, copy.indexOf(value) + COOKIE_OCTETS);
  };
  return blank(one, cookie).equals(blank(other, otherCookie));
}

function cookieIn(answer: Buffer | undefined): Buffer | undefined {
  if (answer === undefined) return undefined;
  const option = decodeMessage(answer).edns?.options.find(({ code }) => code === EDNS_OPTION.COOKIE);
  return option && Buffer.from(option.value);
}

function socketPath(
  libc: Libc,
  family: 'ipv4' | 'ipv6',
  side: 'xdp' | 'kernel',
  from: number,
  { port }: CompareOptions,
): Path {
  const client = { address: ADDRESSES.client[family], port: from };
  const socket = DatagramSocket.udp(libc, client, { address: ADDRESSES[side][family], port });
  return {
    maxOctets: Number.POSITIVE_INFINITY,
    send: (queries) => socket.send(queries),
    receive: (take) => socket.receive(take),
    close: () => socket.close(),
  };
}

/** Opens a path of VLAN-tagged frames on the XDP link. */
function framePath(libc: Libc, family: 'ipv4' | 'ipv6', { macs, port }: CompareOptions): Path {
  const client = { mac: macs.client, address: ADDRESSES.client[family], port: XDP_PORT + 100 };
  const server = { mac: macs.server, address: ADDRESSES.xdp[family], port };
  const route: Route = { from: client, to: server, tag: TAG };
  const socket = DatagramSocket.frames(libc, XDP_INTERFACE);
  const expected = decodeUdpFrame(encodeUdpFrame({ from: server, to: client, tag: TAG }, Buffer.alloc(2)));
  return {
    maxOctets: MAX_FRAME_PAYLOAD,
    send: (queries) => socket.send(queries.map((query) => encodeUdpFrame(route, query))),
    receive: (take) =>
      socket.receive((octets) => {
        const frame = decodeUdpFrame(octets);
        if (frame?.from !== expected?.from || frame?.to !== expected?.to) return;
        if (frame?.tag === TAG && frame.faults.length === 0) take(frame.payload);
        else
          throw new Error(
            `the answer's frame has faults: ${frame?.faults} ${Buffer.from(octets).toString('hex')}`,
          );
      }),
    close: () => socket.close(),
  };
}
