// Receives up to 64 packets in one system call and answers each into the buffer that another call sends. All memory and
// its headers are created once, in one buffer; nothing is allocated per packet.

import { performance } from 'node:perf_hooks';
import { type GroupAnswerer, SLOW_PATH } from '../answer/answer-query.ts';
import { isLinkLocal } from '../answer/client.ts';
import { MOST_AHEAD } from '../image/find/read-ahead.ts';
import type { Reader } from '../image/image.ts';
import { BatchTimes } from '../observe/batch-times.ts';
import type { Sampler } from '../observe/sampler.ts';
import type { SlowPathLimit } from '../slow-path/slow-path-limit.ts';
import {
  EAGAIN,
  EINTR,
  ENOBUFS,
  ENOMEM,
  IP_PKTINFO,
  IPPROTO_IP,
  IPPROTO_IPV6,
  IPV6_PKTINFO,
  type Libc,
  MSG_DONTWAIT,
  MSG_TRUNC,
  MSG_WAITFORONE,
  SystemError,
} from '../threads/libc.ts';
import type { SlowPacket } from './slow-packet.ts';
import type { UdpSocket } from './udp-sockets.ts';

/** The counters besides those of the answers. */
interface PacketCounters {
  ignored: number;
  unsent: number;
  observeLatency(seconds: number, answers: number): void;
}

/** Takes the packets that the transfer thread answers. */
interface SlowPackets {
  readonly limit: Pick<SlowPathLimit, 'admit'>;
  post(packet: SlowPacket): void;
}

const BATCH_PACKETS = 64;
/** The largest UDP payload. Memory that no packet reaches is not used. */
const INPUT_OCTETS = 0x10000;

// An odd number of cache lines per packet. Otherwise all packets would use the same few sets of the cache.
const CACHE_LINE = 64;
const INPUT_STEP = INPUT_OCTETS + CACHE_LINE;
const NAME_STEP = 32; // struct sockaddr_in6 takes 28
const CONTROL_STEP = 64; // struct cmsghdr with in_pktinfo takes 32, with in6_pktinfo 40

// struct mmsghdr, in words: struct msghdr and the octets of the message.
const HEADER_BYTES = 64;
const HEADER_WORDS = 16;
const NAME_AT = 0;
const NAME_BYTES = 2;
const PIECES_AT = 4;
const PIECES = 6;
const CONTROL_AT = 8;
const CONTROL_BYTES = 10;
const FLAGS = 12;
const MESSAGE_OCTETS = 14;
// struct iovec
const PIECE_WORDS = 4;
const PIECE_BYTES = 2;

const SOCKADDR_BYTES = 28;
const CONTROL_HEAD_BYTES = 16; // struct cmsghdr
const IN_PKTINFO_BYTES = 12;
const IN6_PKTINFO_BYTES = 20;

export class PacketBatch {
  readonly #libc: Libc;
  readonly #answerer: GroupAnswerer;
  readonly #reader: Reader;
  readonly #counters: PacketCounters;
  readonly #answerOctets: number;
  readonly #slow: SlowPackets | undefined;
  readonly #sampler: Sampler | undefined;
  readonly #times: BatchTimes;

  readonly #bytes: Uint8Array;
  readonly #words: Int32Array;
  // Offsets in the bytes.
  readonly #received: number;
  readonly #sent: number;
  readonly #sentPieces: number;
  readonly #names: number;
  readonly #controls: number;
  readonly #inputs: number;
  readonly #outputs: number;
  readonly #outputStep: number;
  // The same as addresses for the system. 64-bit numbers are two words, the lower one first.
  readonly #receivedAddress: bigint;
  readonly #sentAddresses: readonly bigint[];
  readonly #nameAddresses: Int32Array;
  readonly #controlAddresses: Int32Array;

  /**
   * @param answerOctets length of the largest answer
   * @param slow required if the answerer returns SLOW_PATH
   * @param sampler undefined if no answers are sampled
   */
  constructor(
    libc: Libc,
    answerer: GroupAnswerer,
    reader: Reader,
    counters: PacketCounters,
    answerOctets: number,
    slow?: SlowPackets,
    sampler?: Sampler,
  ) {
    this.#libc = libc;
    this.#answerer = answerer;
    this.#reader = reader;
    this.#counters = counters;
    this.#answerOctets = answerOctets;
    this.#slow = slow;
    this.#sampler = sampler;
    this.#times = new BatchTimes(answerer, counters, sampler);
    this.#outputStep = (Math.ceil(answerOctets / CACHE_LINE) | 1) * CACHE_LINE;

    let end = 0;
    const take = (bytes: number) => {
      const start = end;
      end += bytes;
      return start;
    };
    this.#received = take(BATCH_PACKETS * HEADER_BYTES);
    this.#sent = take(BATCH_PACKETS * HEADER_BYTES);
    const receivedPieces = take(BATCH_PACKETS * PIECE_WORDS * 4);
    this.#sentPieces = take(BATCH_PACKETS * PIECE_WORDS * 4);
    this.#names = take(BATCH_PACKETS * NAME_STEP);
    this.#controls = take(BATCH_PACKETS * CONTROL_STEP);
    this.#outputs = take(BATCH_PACKETS * this.#outputStep);
    this.#inputs = take(BATCH_PACKETS * INPUT_STEP);
    this.#bytes = new Uint8Array(end);
    this.#words = new Int32Array(this.#bytes.buffer);

    const base = libc.addressOf(this.#bytes);
    const address = (at: number) => base + BigInt(at);
    const addresses = (from: number, step: number) =>
      new Int32Array(
        BigInt64Array.from({ length: BATCH_PACKETS }, (_, i) => address(from + i * step)).buffer,
      );
    this.#receivedAddress = address(this.#received);
    this.#sentAddresses = Array.from({ length: BATCH_PACKETS }, (_, i) =>
      address(this.#sent + i * HEADER_BYTES),
    );
    this.#nameAddresses = addresses(this.#names, NAME_STEP);
    this.#controlAddresses = addresses(this.#controls, CONTROL_STEP);

    const numbers = new BigInt64Array(this.#bytes.buffer, 0, this.#outputs / 8);
    const setNumber = (at: number, word: number, value: bigint) => {
      numbers[at / 8 + word / 2] = value;
    };
    for (let i = 0; i < BATCH_PACKETS; i++) {
      const receivedPiece = receivedPieces + i * PIECE_WORDS * 4;
      setNumber(receivedPiece, 0, address(this.#inputs + i * INPUT_STEP));
      setNumber(receivedPiece, PIECE_BYTES, BigInt(INPUT_OCTETS));
      const received = this.#received + i * HEADER_BYTES;
      setNumber(received, NAME_AT, address(this.#names + i * NAME_STEP));
      setNumber(received, NAME_BYTES, BigInt(SOCKADDR_BYTES));
      setNumber(received, PIECES_AT, address(receivedPiece));
      setNumber(received, PIECES, 1n);
      setNumber(received, CONTROL_AT, address(this.#controls + i * CONTROL_STEP));
      setNumber(received, CONTROL_BYTES, BigInt(CONTROL_STEP));
      const sentPiece = this.#sentPieces + i * PIECE_WORDS * 4;
      setNumber(sentPiece, 0, address(this.#outputs + i * this.#outputStep));
      const sent = this.#sent + i * HEADER_BYTES;
      setNumber(sent, PIECES_AT, address(sentPiece));
      setNumber(sent, PIECES, 1n);
    }
  }

  /** Waits for packets, at most for the socket's time limit. Returns the number of packets. */
  receive(socket: UdpSocket): number {
    return this.#receive(socket.descriptor, MSG_WAITFORONE);
  }

  /** Receives packets that have already arrived, without waiting. */
  receivePending(socket: UdpSocket): number {
    return this.#receive(socket.descriptor, MSG_DONTWAIT);
  }

  #receive(descriptor: number, flags: number): number {
    const received = this.#libc.recvmmsg(descriptor, this.#receivedAddress, BATCH_PACKETS, flags, 0);
    if (received > 0) return received;
    this.rest();
    if (received === 0) return 0;
    const errno = this.#libc.errno();
    if (errno === EAGAIN || errno === EINTR || errno === ENOBUFS || errno === ENOMEM) return 0;
    throw new SystemError('recvmmsg', errno);
  }

  /** Call it if no packet arrived. */
  rest(): void {
    this.#times.rest();
  }

  /** Answers the packets received last. */
  reply(socket: UdpSocket, received: number): void {
    this.#times.begin();
    this.#times.end(this.#answer(socket, received));
  }

  /** Answers the packets. Returns the number of answers. */
  #answer(socket: UdpSocket, received: number): number {
    const answers = this.#write(socket, received);
    if (answers > 0) this.#send(socket.descriptor, answers);
    return answers;
  }

  /** Writes the answers. Returns the number that are ready to be sent. A packet without an answer leaves no gap. */
  #write(socket: UdpSocket, received: number): number {
    const bytes = this.#bytes;
    const words = this.#words;
    const answerer = this.#answerer;
    const { ipv6, wildcard } = socket;
    const { client } = answerer;
    const addressOffset = ipv6 ? 8 : 4; // in struct sockaddr_in6, sockaddr_in
    client.transport = 0;
    client.address = bytes;
    client.octets = ipv6 ? 16 : 4;
    const sampler = this.#sampler;
    /** The number of the answer that is sampled. */
    let sampled = sampler === undefined ? -1 : sampler.left;
    const startedAtMs = sampled >= 0 && sampled < received ? performance.now() : 0;
    let answers = 0;
    this.#reader.enter();
    for (let i = 0; i < received; i++) {
      const ahead = i & (MOST_AHEAD - 1);
      if (ahead === 0) this.#readAhead(i, received);
      const header = (this.#received >> 2) + i * HEADER_WORDS;
      const name = this.#names + i * NAME_STEP;
      const nameBytes = words[header + NAME_BYTES] as number;
      const controlBytes = words[header + CONTROL_BYTES] as number;
      // The system has replaced these with the lengths that it used; the next receive needs the full space.
      words[header + NAME_BYTES] = SOCKADDR_BYTES;
      words[header + CONTROL_BYTES] = CONTROL_STEP;
      if (((words[header + FLAGS] as number) & MSG_TRUNC) !== 0) {
        this.#counters.ignored++;
        continue;
      }
      const output = this.#outputs + answers * this.#outputStep;
      client.at = name + addressOffset;
      let written = 0;
      try {
        written = answerer.answerRead(ahead, bytes, output, this.#answerOctets);
      } catch {
        this.#counters.unsent++; // a bug that even the answerer did not handle: only this packet is lost
      }
      if (written <= 0) {
        if (written === SLOW_PATH) this.#postSlow(socket, i, nameBytes, controlBytes);
        continue;
      }
      const sent = (this.#sent >> 2) + answers * HEADER_WORDS;
      words[sent + NAME_AT] = this.#nameAddresses[2 * i] as number;
      words[sent + NAME_AT + 1] = this.#nameAddresses[2 * i + 1] as number;
      words[sent + NAME_BYTES] = nameBytes;
      words[(this.#sentPieces >> 2) + answers * PIECE_WORDS + PIECE_BYTES] = written;
      words[sent + CONTROL_BYTES] = wildcard ? this.#setSource(i, ipv6, controlBytes) : 0;
      if (wildcard) {
        words[sent + CONTROL_AT] = this.#controlAddresses[2 * i] as number;
        words[sent + CONTROL_AT + 1] = this.#controlAddresses[2 * i + 1] as number;
      }
      if (answers === sampled && sampler !== undefined) {
        const hasSource = (words[sent + CONTROL_BYTES] as number) > 0;
        this.#sample(sampler, socket, hasSource, i, output, written, startedAtMs);
        sampled += 1 + sampler.drawSkip();
      }
      answers++;
    }
    if (sampler !== undefined) sampler.left = sampled - answers;
    this.#reader.leave();
    return answers;
  }

  /** Reads up to MOST_AHEAD packets from `first` on, and loads what their answers need. */
  #readAhead(first: number, received: number): void {
    const answerer = this.#answerer;
    const count = Math.min(MOST_AHEAD, received - first);
    for (let i = 0; i < count; i++) {
      const octets = this.#words[
        (this.#received >> 2) + (first + i) * HEADER_WORDS + MESSAGE_OCTETS
      ] as number;
      answerer.read(i, this.#bytes, this.#inputs + (first + i) * INPUT_STEP, octets);
    }
    if (count > 1) answerer.load(count);
  }

  /** Samples the answer to packet `i`, which was just written. */
  #sample(
    sampler: Sampler,
    { ipv6, local }: UdpSocket,
    hasSource: boolean,
    i: number,
    output: number,
    written: number,
    startedAtMs: number,
  ): void {
    if (!sampler.admit(this.#answerer.nowMs)) return;
    const bytes = this.#bytes;
    const port = this.#names + i * NAME_STEP + 2; // in struct sockaddr_in and sockaddr_in6
    const destination = this.#controls + i * CONTROL_STEP + CONTROL_HEAD_BYTES; // in6_pktinfo
    sampler.add(this.#answerer, {
      port: ((bytes[port] as number) << 8) | (bytes[port + 1] as number),
      local: hasSource ? bytes : local?.address,
      localAt: hasSource ? destination + (ipv6 ? 0 : 4) : 0, // after the interface in in_pktinfo
      localPort: local?.port,
      query: bytes,
      queryAt: this.#inputs + i * INPUT_STEP,
      queryOctets: this.#words[(this.#received >> 2) + i * HEADER_WORDS + MESSAGE_OCTETS] as number,
      answer: bytes,
      answerAt: output,
      answerOctets: written,
      startedAtMs,
    });
  }

  /** Posts packet `i` to the main thread, unless a limit is exceeded. */
  #postSlow({ descriptor, ipv6, wildcard }: UdpSocket, i: number, nameBytes: number, controlBytes: number) {
    const { client, nowMs } = this.#answerer;
    const octets = this.#words[(this.#received >> 2) + i * HEADER_WORDS + MESSAGE_OCTETS] as number;
    if (this.#slow?.limit.admit(client, octets, nowMs) !== true) return;
    const copy = (at: number, bytes: number) => this.#bytes.slice(at, at + bytes);
    const sourceBytes = wildcard ? this.#setSource(i, ipv6, controlBytes) : 0;
    this.#slow.post({
      octets: copy(this.#inputs + i * INPUT_STEP, octets),
      descriptor,
      name: copy(this.#names + i * NAME_STEP, nameBytes),
      control: copy(this.#controls + i * CONTROL_STEP, sourceBytes),
    });
  }

  /**
   * Makes the address that packet `i` was sent to (IP_PKTINFO) the source of the answer. Returns the length of that
   * control message, or 0 if the system sent none.
   */
  #setSource(i: number, ipv6: boolean, controlBytes: number): number {
    const bytes = this.#bytes;
    const words = this.#words;
    const at = this.#controls + i * CONTROL_STEP;
    const head = at >> 2;
    if (controlBytes < CONTROL_HEAD_BYTES) return 0;
    const level = words[head + 2] as number;
    const type = words[head + 3] as number;
    const content = at + CONTROL_HEAD_BYTES;
    // The interface is unset, so that the answer follows the routing table.
    if (!ipv6 && level === IPPROTO_IP && type === IP_PKTINFO) {
      words[content >> 2] = 0;
      return CONTROL_HEAD_BYTES + IN_PKTINFO_BYTES + 4; // padded to 8
    }
    if (ipv6 && level === IPPROTO_IPV6 && type === IPV6_PKTINFO) {
      // Link-local addresses keep their interface, without which they have no meaning.
      if (!isLinkLocal(bytes, content)) words[(content >> 2) + 4] = 0;
      return CONTROL_HEAD_BYTES + IN6_PKTINFO_BYTES + 4;
    }
    return 0;
  }

  #send(descriptor: number, answers: number): void {
    let at = 0;
    while (at < answers) {
      const sent = this.#libc.sendmmsg(descriptor, this.#sentAddresses[at] as bigint, answers - at, 0);
      if (sent > 0) {
        at += sent; // fewer than requested: the next one failed, and the next call reports why
        continue;
      }
      const errno = this.#libc.errno();
      if (errno === EINTR) continue;
      if (errno === EAGAIN) {
        // Sending was blocked for the whole time limit, so the clients have given up.
        this.#counters.unsent += answers - at;
        return;
      }
      // The packet cannot be sent (source port 0, no route …), and a retry would fail too.
      this.#counters.unsent++;
      at++;
    }
  }
}
