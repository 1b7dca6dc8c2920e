// One TCP connection. Splits the stream into queries, answers some of them in each of its turns, in order, and pauses
// while the peer does not read.
//
//   reading → (whole queries) → its turn → answered → reading
//      └→ the peer does not read: unread, nothing more is read or answered until it has received the written answers

import type { Socket } from 'node:net';
import type { PacketAnswerer } from '../answer/answer-query.ts';
import type { QueryCounters } from '../answer/query-counters.ts';
import type { Reader } from '../udp/packet-batch.ts';
import type { NetworkConnection, TcpNetwork } from './tcp-network.ts';
import type { TcpTurns } from './tcp-turns.ts';

/** Everything that a TCP connection needs to answer queries. */
export interface TcpAnswers {
  readonly answerer: PacketAnswerer;
  readonly reader: Reader;
  readonly counters: QueryCounters;
}

/** The connections of a listener. */
export interface TcpConnections {
  readonly answers: TcpAnswers;
  readonly turns: TcpTurns;
  readonly now: () => number;
  /** In order of their last progress: the first has been idle longest. */
  readonly connections: Set<TcpConnection>;
  readonly networks: Map<string, TcpNetwork>;
  /** Called when the peer stops reading its answers, or reads again. */
  countUnread(connection: TcpConnection): void;
  countRead(connection: TcpConnection): void;
}

const LENGTH_OCTETS = 2; // RFC 1035 §4.2.2
const HEADER_OCTETS = 12;
const MAX_MESSAGE_OCTETS = 65535;
const OVER_TCP = 1;
/** Maximum number of queries, or octets of answers, in one turn. The rest waits for the next turn. */
const TURN_QUERIES = 64;
const TURN_OCTETS = 16_384;
const MAX_CHUNKS = 64;
/** A connection with more unanswered input cannot be passed to another process. */
const MAX_PASSED_OCTETS = 4096;

const batch = new Uint8Array(TURN_OCTETS + LENGTH_OCTETS + MAX_MESSAGE_OCTETS);

export class TcpConnection implements NetworkConnection {
  progressAt: number;
  readonly network: TcpNetwork;
  hasQueries = false;
  /** Bytes of answers that the system has not accepted yet. */
  unreadBytes = 0;
  readonly #socket: Socket;
  /** The client's address, 4 or 16 octets. */
  readonly #from: Uint8Array;
  readonly #owner: TcpConnections;
  /** Unanswered input from `#at` on: at most one message plus one read, in few chunks. */
  #chunks: Buffer[] = [];
  #at = 0;
  #received = 0;
  /** Number of octets required to continue. */
  #needed = LENGTH_OCTETS;
  #isUnread = false;
  #peerEnded = false;

  constructor(socket: Socket, from: Uint8Array, network: TcpNetwork, owner: TcpConnections) {
    this.#socket = socket;
    this.#from = from;
    this.network = network;
    this.#owner = owner;
    this.progressAt = owner.now();
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('end', () => this.#endInput());
    socket.on('error', () => {}); // 'close' follows
    socket.on('close', () => this.#leave());
  }

  destroy(): void {
    if (this.#isUnread) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
    this.#leave();
  }

  /** Ends the connection once the peer has received the written answers. Later queries are not answered. */
  endWhenWritten(): void {
    this.#drop();
    this.#peerEnded = true;
    this.#socket.end();
  }

  /**
   * Stops reading, so that another process can. Returns the descriptor and the unanswered input. Returns undefined if
   * the peer reads too slowly, has ended its side, or has sent more than can be passed.
   */
  detach(): { descriptor: number; input: Buffer } | undefined {
    const { _handle: handle } = this.#socket as { _handle?: { fd: number; readStop(): void } | null };
    if (!handle) return undefined; // the connection is closed
    while (this.#socket.read() !== null); // emits data that Node has read but not emitted
    const { turns, now } = this.#owner;
    while (this.#received > MAX_PASSED_OCTETS && this.hasQueries && this.network.mayAsk(now()))
      this.answerSome();
    if (this.#isUnread || this.#peerEnded || this.#received > MAX_PASSED_OCTETS) return undefined;
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

  /** Answers the input read so far, then ends the connection. */
  finish(): void {
    this.#endInput();
    this.#socket.resume(); // discards further input until the peer ends its side
  }

  hold(): void {
    this.#socket.pause();
  }

  release(): void {
    if (!this.#isUnread) this.#socket.resume();
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
    const { connections, networks, turns } = this.#owner;
    if (!connections.delete(this)) return;
    const { network } = this;
    network.connections--;
    if (network.isForgettable(this.#owner.now())) networks.delete(network.name);
    this.#drop();
    this.#setRead();
    turns.forget(this);
  }

  #drop(): void {
    this.#chunks = [];
    this.#at = 0;
    this.#received = 0;
    this.hasQueries = false;
  }

  #progress(): void {
    this.progressAt = this.#owner.now();
    const { connections } = this.#owner;
    if (connections.delete(this)) connections.add(this); // to the end
  }

  #receive(chunk: Buffer): void {
    if (this.#peerEnded) return;
    this.#chunks.push(chunk);
    this.#received += chunk.length;
    // Each chunk has an overhead of some hundred bytes: a client that sends single octets must not fill the memory.
    if (this.#chunks.length >= MAX_CHUNKS) this.#join();
    this.#askForTurn();
  }

  #askForTurn(): void {
    if (this.hasQueries || this.#isUnread || this.#received < this.#needed) return;
    this.hasQueries = true;
    this.#owner.turns.take(this);
  }

  #endInput(): void {
    this.#peerEnded = true;
    if (!this.hasQueries && !this.#isUnread) this.#socket.end();
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
    if (filled > 0) this.#send(filled);
    if (queries > 0) this.#progress();
    if (isForeign) this.#endForeign();
    else if (this.#peerEnded && !this.hasQueries && !this.#isUnread) this.#socket.end();
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
    this.hasQueries = left >= LENGTH_OCTETS + announced && left >= LENGTH_OCTETS;
    if (this.hasQueries) this.#at = at;
    else if (left === 0) this.#drop();
    else {
      // A copy of the rest: a view would keep the whole chunk in memory.
      this.#chunks = [at === 0 ? input : Buffer.from(input.subarray(at))];
      this.#at = 0;
    }
  }

  /** Appends the answer to the batch, which holds `filled` octets. Returns the new number of octets. */
  #answerOne(input: Uint8Array, at: number, octets: number, filled: number): number {
    const { answerer, counters } = this.#owner.answers;
    const startedAt = performance.now();
    const outAt = filled + LENGTH_OCTETS;
    answerer.client.set(OVER_TCP, this.#from);
    const length = answerer.answer(input, at, octets, batch, outAt, MAX_MESSAGE_OCTETS);
    if (length === 0) return filled;
    batch[filled] = length >> 8;
    batch[filled + 1] = length;
    counters.observeLatency((performance.now() - startedAt) / 1000);
    return outAt + length;
  }

  #send(octets: number): void {
    const socket = this.#socket;
    socket.write(Buffer.from(batch.subarray(0, octets)), this.#written);
    if (socket.writableLength === 0) return; // the system has accepted everything
    this.#isUnread = true;
    this.hasQueries = false; // none for now
    this.unreadBytes = socket.writableLength;
    socket.pause();
    this.#owner.countUnread(this);
  }

  readonly #written = (): void => {
    if (!this.#isUnread || this.#socket.writableLength > 0) return;
    this.#setRead();
    if (this.#socket.destroyed) return;
    this.#progress();
    this.#askForTurn();
    if (this.hasQueries || this.#isUnread) return;
    if (this.#peerEnded) this.#socket.end();
    else this.#socket.resume();
  };

  #setRead(): void {
    if (!this.#isUnread) return;
    this.#isUnread = false;
    this.#owner.countRead(this);
    this.unreadBytes = 0;
  }
}
