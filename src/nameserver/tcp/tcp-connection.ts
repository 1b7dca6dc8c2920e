// One TCP or TLS connection. Splits the stream into queries, answers some of them in each of its turns, in order, and pauses
// while the peer does not read.
//
//   reading → (whole queries) → its turn → answered → reading
//      └→ the peer does not read: unread, nothing more is read or answered until it has received the written answers
//
// Answers of the transfer thread arrive later, and other queries are answered meanwhile.

import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { HEADER_OCTETS } from '../../dns/message/header.ts';
import { type PacketAnswerer, SLOW_PATH, writeFailure } from '../answer/answer-query.ts';
import { addressOctets } from '../answer/client.ts';
import type { QueryCounters } from '../answer/query-counters.ts';
import { TRANSPORT, type TransportIndex } from '../answer/transports.ts';
import type { Reader } from '../image/image.ts';
import type { Sampler } from '../observe/sampler.ts';
import type { SlowMessages } from '../slow-path/slow-path.ts';
import { LaterAnswers } from './later-answers.ts';
import type { LimitedConnection } from './limited-connections.ts';
import { HELD_BY_SYSTEM_BYTES } from './open-servers.ts';
import type { TcpNetwork } from './tcp-network.ts';
import type { TcpTurns } from './tcp-turns.ts';

/** Everything that a TCP connection needs to answer queries. */
export interface TcpAnswers {
  readonly answerer: PacketAnswerer;
  readonly reader: Reader;
  readonly counters: QueryCounters;
  /** Default: TCP. */
  readonly transport?: typeof TRANSPORT.TCP | typeof TRANSPORT.TLS;
  /** Undefined if no answers are sampled. */
  readonly sampler?: Sampler | undefined;
  /** Undefined if the node has no transfer thread. */
  readonly slowPath?: SlowMessages | undefined;
}

/** The connections of a listener. */
interface TcpConnections {
  readonly answers: TcpAnswers;
  readonly turns: TcpTurns;
  readonly now: () => number;
  /** Records that the connection has made progress. */
  progress(connection: TcpConnection): void;
  /** Returns false if the connection was removed before. */
  leave(connection: TcpConnection): boolean;
  /** Called with the bytes that the peer has not read yet, also again for later ones. Increases `heldBytes`. */
  hold(connection: TcpConnection, bytes: number): void;
  /** Called when the peer reads again. Decreases `heldBytes`. */
  release(connection: TcpConnection, bytes: number): void;
}

const LENGTH_OCTETS = 2; // RFC 1035 §4.2.2
const MAX_MESSAGE_OCTETS = 65535;
/** Maximum number of queries, or octets of answers, in one turn. The rest waits for the next turn. */
const TURN_QUERIES = 64;
const TURN_OCTETS = 16_384;
const MAX_CHUNKS = 64;
/** With more octets over TLS, a connection does not wait for further ones. */
const MAX_WAITING_OCTETS = 1 << 16;
/** A connection with more unanswered input cannot be passed to another process. */
const MAX_PASSED_OCTETS = 4096;
/** Time in which a peer must take a part of a transfer. */
const TAKE_PART_MS = 30_000;
/**
 * Octets of written answers with which the next queries are still answered over TLS. A write over TLS always completes
 * later, even if the peer reads.
 */
const TLS_UNWRITTEN_OCTETS = 1 << 16;

const batch = new Uint8Array(TURN_OCTETS + LENGTH_OCTETS + MAX_MESSAGE_OCTETS);

export class TcpConnection implements LimitedConnection {
  progressAt: number;
  readonly network: TcpNetwork;
  hasQueries = false;
  /** Bytes that are counted as unread. */
  heldBytes = 0;
  readonly #socket: Socket;
  /** The client's address, 4 or 16 octets. */
  readonly #from: Uint8Array;
  readonly #owner: TcpConnections;
  readonly #transport: TransportIndex;
  /** Unanswered input from `#at` on: at most one message plus one read, in few chunks. */
  #chunks: Buffer[] = [];
  #at = 0;
  #received = 0;
  /** Number of octets required to continue. */
  #needed = LENGTH_OCTETS;
  /** True while the peer must read before more is read or answered. */
  #isUnread = false;
  /** True if the system has accepted all answers at some time since the last sweep. */
  #wasWritten = false;
  readonly #later: LaterAnswers;
  /** True if answers of the transfer thread are unread. */
  #isPartUnread = false;
  #peerEnded = false;
  #isTurnPlanned = false;

  constructor(socket: Socket, from: Uint8Array, network: TcpNetwork, owner: TcpConnections) {
    this.#socket = socket;
    this.#from = from;
    this.network = network;
    this.#owner = owner;
    this.#transport = owner.answers.transport ?? TRANSPORT.TCP;
    this.progressAt = owner.now();
    this.#later = new LaterAnswers(owner.answers.slowPath, this);
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('end', () => this.#endInput());
    socket.on('error', () => {}); // 'close' follows
    socket.on('close', () => this.#leave());
  }

  destroy(): void {
    // A reset discards what the peer has not read, which the system would keep for minutes.
    if (this.#socket.writableLength > 0) tcpSocketOf(this.#socket).resetAndDestroy();
    this.#socket.destroy();
    this.#leave();
  }

  /** Ends the connection once the peer has received the written answers. Later queries are not answered. */
  endWhenWritten(): void {
    this.#drop();
    this.#endInput();
  }

  /** True while the transfer thread makes an answer, or the peer takes it fast enough. */
  isBusy(nowMs: number): boolean {
    if (this.#later.isEmpty && !this.#isPartUnread) return false;
    return !this.#isUnread || nowMs - this.progressAt < TAKE_PART_MS;
  }

  /**
   * Stops reading, so that another process can. Returns the descriptor and the unanswered input. Returns undefined if
   * the peer reads too slowly, has ended its side, has sent more than can be passed, or waits for the transfer thread.
   */
  detach(): { descriptor: number; input: Buffer } | undefined {
    const { _handle: handle } = this.#socket as { _handle?: { fd: number; readStop(): void } | null };
    if (!handle) return undefined; // the connection is closed
    while (this.#socket.read() !== null); // emits data that Node has read but not emitted
    const { turns, now } = this.#owner;
    while (this.#received > MAX_PASSED_OCTETS && this.hasQueries && this.network.mayAsk(now()))
      this.answerSome();
    if (this.#isUnread || this.#peerEnded || this.#received > MAX_PASSED_OCTETS) return undefined;
    if (!this.#later.isEmpty) return undefined;
    handle.readStop();
    turns.forget(this); // the other process answers
    return { descriptor: handle.fd, input: this.#join().subarray(this.#at) };
  }

  /** Answers input that another process has read. */
  attach(input: Buffer): void {
    if (input.length > 0) this.#receive(input);
  }

  /** Closes the descriptor without ending the connection, which another process continues. */
  abandon(): void {
    this.#leave();
    this.#socket.destroy();
  }

  /** Answers the input read so far, then ends the connection. Answers that arrive later are still sent. */
  finish(): void {
    this.#endInput();
    this.#socket.resume(); // discards further input until the peer ends its side
  }

  hold(): void {
    this.#socket.pause();
  }

  release(): void {
    if (!this.#isBlocked) this.#socket.resume();
  }

  /** Sends a part of an answer that arrived later. */
  sendPart(octets: Uint8Array | undefined): void {
    if (octets !== undefined) {
      this.#write(octets, true);
      this.#isPartUnread = this.#isUnread;
    }
    if (this.#isUnread) {
      this.#owner.turns.forget(this);
      return;
    }
    this.#progress();
    this.#continue();
  }

  answerSome(): number {
    const { answerer, reader } = this.#owner.answers;
    answerer.nowMs = Date.now();
    reader.enter();
    try {
      return this.#answerSome();
    } finally {
      reader.leave();
    }
  }

  #leave(): void {
    if (!this.#owner.leave(this)) return;
    this.#drop();
    this.#setRead();
    this.#later.close();
  }

  /** True if no query is read or answered for now. */
  get #isBlocked(): boolean {
    return this.#isUnread || this.#later.isFull;
  }

  #drop(): void {
    this.#chunks = [];
    this.#at = 0;
    this.#received = 0;
    this.hasQueries = false;
  }

  #progress(): void {
    this.#owner.progress(this);
  }

  #receive(chunk: Buffer): void {
    if (this.#peerEnded) return;
    this.#chunks.push(chunk);
    this.#received += chunk.length;
    // Each chunk has an overhead of some hundred bytes: a client that sends single octets must not fill the memory.
    if (this.#chunks.length >= MAX_CHUNKS) this.#join();
    if (this.#transport === TRANSPORT.TLS && this.#received < MAX_WAITING_OCTETS) this.#askSoon();
    else this.#askForTurn();
  }

  /** Many clients send each query as a TLS record, which arrives as a chunk. Waits for all, to answer them in one record. */
  #askSoon(): void {
    if (this.#isTurnPlanned) return;
    this.#isTurnPlanned = true;
    setImmediate(() => {
      this.#isTurnPlanned = false;
      this.#askForTurn();
      this.#endIfDone();
    });
  }

  #askForTurn(): void {
    if (this.hasQueries || this.#isBlocked || this.#received < this.#needed) return;
    this.hasQueries = true;
    this.#owner.turns.take(this);
  }

  #endInput(): void {
    this.#peerEnded = true;
    this.#endIfDone();
  }

  /** Ends the connection if the peer has ended its side and has got all answers. */
  #endIfDone(): void {
    if (!this.#peerEnded || this.hasQueries || this.#isTurnPlanned) return;
    if (!this.#isUnread && this.#later.isEmpty) this.#socket.end();
  }

  /** Joins all received octets into one chunk. */
  #join(): Buffer {
    const [first] = this.#chunks;
    if (this.#chunks.length === 1 && first !== undefined) return first;
    const rest = this.#chunks.slice(1);
    const joined = Buffer.concat(first === undefined ? rest : [first.subarray(this.#at), ...rest]);
    this.#chunks = [joined];
    this.#at = 0;
    return joined;
  }

  #answerSome(): number {
    const input = this.#join();
    let at = this.#at;
    let queries = 0;
    let filled = 0;
    let isForeign = false;
    this.#needed = LENGTH_OCTETS;
    while (queries < TURN_QUERIES && filled < TURN_OCTETS && input.length - at >= LENGTH_OCTETS) {
      if (this.#later.isFull) break;
      const octets = ((input[at] as number) << 8) | (input[at + 1] as number);
      // A message shorter than a header is not DNS: the stream is out of step or uses another protocol.
      isForeign = octets < HEADER_OCTETS;
      if (isForeign) break;
      this.#needed = LENGTH_OCTETS + octets;
      if (input.length - at < this.#needed) break;
      filled = this.#answerOne(input, at + LENGTH_OCTETS, octets, filled);
      at += this.#needed;
      this.#needed = LENGTH_OCTETS;
      queries++;
    }
    this.network.asked(queries);
    this.#keep(input, at);
    if (filled > 0) this.#write(Buffer.from(batch.subarray(0, filled)), false);
    if (queries > 0) this.#progress();
    if (isForeign) this.#endForeign();
    else if (this.#later.isFull) this.#socket.pause();
    else this.#endIfDone();
    return 1 + queries + (filled >> 10);
  }

  #endForeign(): void {
    this.#owner.answers.counters.ignored++;
    this.#drop();
    this.#peerEnded = true;
    this.#socket.destroySoon(); // earlier answers are still sent
  }

  #keep(input: Buffer, at: number): void {
    const left = input.length - at;
    const announced = left < LENGTH_OCTETS ? 0 : ((input[at] as number) << 8) | (input[at + 1] as number);
    this.#received = left;
    const hasWhole = left >= LENGTH_OCTETS + announced && left >= LENGTH_OCTETS;
    this.hasQueries = hasWhole && !this.#later.isFull;
    if (hasWhole) this.#at = at;
    else if (left === 0) this.#drop();
    else {
      // A copy of the rest: a view would keep the whole chunk in memory.
      this.#chunks = [at === 0 ? input : Buffer.from(input.subarray(at))];
      this.#at = 0;
    }
  }

  /** Appends the answer to the batch, which holds `filled` octets. Returns the new number of octets. */
  #answerOne(input: Uint8Array, at: number, octets: number, filled: number): number {
    const { answerer, counters, sampler } = this.#owner.answers;
    const startedAt = performance.now();
    const outAt = filled + LENGTH_OCTETS;
    answerer.client.set(this.#transport, this.#from);
    let length = answerer.answer(input, at, octets, batch, outAt, MAX_MESSAGE_OCTETS);
    if (length === SLOW_PATH) {
      if (this.#askLater(input.subarray(at, at + octets))) return filled;
      length = writeFailure(input, at, batch, outAt);
    } else if (length === 0) return filled;
    else if (sampler?.isDue(answerer.nowMs))
      this.#sample(sampler, input, at, octets, outAt, length, startedAt);
    batch[filled] = length >> 8;
    batch[filled + 1] = length;
    counters.observeLatency((performance.now() - startedAt) / 1000);
    return outAt + length;
  }

  #sample(
    sampler: Sampler,
    query: Uint8Array,
    queryAt: number,
    queryOctets: number,
    answerAt: number,
    answerOctets: number,
    startedAtMs: number,
  ): void {
    const { remotePort, localAddress, localPort } = this.#socket;
    sampler.add(this.#owner.answers.answerer, {
      port: remotePort ?? 0, // undefined if the connection has just been closed
      local: localAddress === undefined ? undefined : addressOctets(localAddress),
      localPort,
      query,
      queryAt,
      queryOctets,
      answer: batch,
      answerAt,
      answerOctets,
      startedAtMs,
    });
  }

  #askLater(message: Uint8Array): boolean {
    return this.#later.ask({
      octets: new Uint8Array(message),
      transport: this.#transport,
      address: this.#from,
      isXot: isXot(this.#socket),
    });
  }

  /** @param isPart true if the next part uses the memory of this one, so that it must be written first */
  #write(octets: Uint8Array, isPart: boolean): void {
    const socket = this.#socket;
    const isTls = this.#transport === TRANSPORT.TLS;
    socket.write(octets, this.#written);
    if (socket.writableLength <= (isTls && !isPart ? TLS_UNWRITTEN_OCTETS : 0)) return;
    this.#waitForReader();
    if (!isTls || !isPart || this.heldBytes > 0) this.#countUnread(octets.length);
  }

  #waitForReader(): void {
    this.#isUnread = true;
    this.hasQueries = false; // none for now
    this.#socket.pause();
  }

  #countUnread(newOctets: number): void {
    const isCounted = this.heldBytes > 0;
    this.#owner.hold(this, isCounted ? newOctets : this.#socket.writableLength + HELD_BY_SYSTEM_BYTES);
  }

  /** Counts answers over TLS that wait for the peer. Over TCP, they were counted when written. */
  sweep(): void {
    const { writableLength } = this.#socket;
    if (writableLength > 0 && !this.#wasWritten && this.heldBytes === 0) {
      this.#waitForReader();
      this.#countUnread(writableLength);
    }
    this.#wasWritten = false;
  }

  readonly #written = (): void => {
    const isAll = this.#socket.writableLength === 0;
    if (isAll) this.#wasWritten = true;
    if (!this.#isUnread) return;
    this.#progress();
    if (!isAll) return;
    this.#setRead();
    this.#continue();
  };

  /** Called when the peer has received everything that was sent. */
  #continue(): void {
    if (this.#socket.destroyed) return;
    this.#later.requestMore();
    this.#askForTurn();
    if (this.hasQueries || this.#isBlocked) return;
    if (this.#peerEnded) this.#endIfDone();
    else this.#socket.resume();
  }

  #setRead(): void {
    if (!this.#isUnread) return;
    this.#isUnread = false;
    this.#isPartUnread = false;
    this.#owner.release(this, this.heldBytes);
  }
}

/** Returns the TCP socket below a TLS socket, or the socket itself. Only TCP sockets can be reset. */
export function tcpSocketOf(socket: Socket): Socket {
  return (socket as { _parent?: Socket | null })._parent ?? socket;
}

/** True if the connection may carry transfers over TLS (RFC 9103 §7.1, §7.2). */
function isXot(socket: Socket): boolean {
  const { alpnProtocol, getProtocol } = socket as Partial<TLSSocket>;
  return alpnProtocol === 'dot' && getProtocol?.call(socket) === 'TLSv1.3';
}
