// One TCP connection: cuts the stream into queries, answers them in order, and stops while the peer does not read.
//
//   reading → (whole queries) → answered → reading
//      └→ the peer does not read: blocked, nothing more is read or answered until it has taken what was written

import type { Socket } from 'node:net';
import type { PacketAnswerer, Reader } from './packet-batch.ts';
import type { QueryCounters } from './query-counters.ts';

/** What answers are made with. */
export interface TcpAnswers {
  readonly answerer: PacketAnswerer;
  readonly reader: Reader;
  readonly counters: QueryCounters;
}

/** The connections of a listener. */
export interface TcpConnections {
  readonly answers: TcpAnswers;
  /** In order of their last progress: the first has been idle longest. */
  readonly connections: Set<TcpConnection>;
  readonly perNetwork: Map<string, number>;
}

const LENGTH_OCTETS = 2; // RFC 1035 §4.2.2
const HEADER_OCTETS = 12;
const MAX_MESSAGE_OCTETS = 65535;
const OVER_TCP = 1;
/** Answers to one chunk of queries are collected up to this before they are written. */
const BATCH_OCTETS = 65536;
const MAX_CHUNKS = 64;

const batch = new Uint8Array(BATCH_OCTETS + LENGTH_OCTETS + MAX_MESSAGE_OCTETS);

export class TcpConnection {
  progressAt = performance.now();
  readonly #socket: Socket;
  readonly #network: string;
  /** The client's address, 4 or 16 octets. */
  readonly #from: Uint8Array;
  readonly #owner: TcpConnections;
  /** Input that is not answered yet: at most one message and one chunk, in few parts. */
  readonly #chunks: Buffer[] = [];
  #received = 0;
  /** Octets that are needed before there is something to do. */
  #needed = LENGTH_OCTETS;
  #blocked = false;
  #peerEnded = false;

  constructor(socket: Socket, from: Uint8Array, network: string, owner: TcpConnections) {
    this.#socket = socket;
    this.#from = from;
    this.#network = network;
    this.#owner = owner;
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('drain', () => this.#unblock());
    socket.on('end', () => this.#endInput());
    socket.on('error', () => {}); // 'close' follows
    socket.on('close', () => this.#release());
  }

  destroy(): void {
    this.#socket.destroy();
    this.#release();
  }

  /** Ends the connection once the peer has taken what was written; queries that still come are not answered. */
  endWhenWritten(): void {
    this.#drop();
    this.#peerEnded = true;
    this.#socket.end();
  }

  #release(): void {
    const { connections, perNetwork } = this.#owner;
    if (!connections.delete(this)) return;
    const held = (perNetwork.get(this.#network) ?? 1) - 1;
    if (held === 0) perNetwork.delete(this.#network);
    else perNetwork.set(this.#network, held);
    this.#drop();
  }

  #drop(): void {
    this.#chunks.length = 0;
    this.#received = 0;
  }

  #progress(): void {
    this.progressAt = performance.now();
    const { connections } = this.#owner;
    if (connections.delete(this)) connections.add(this); // to the end
  }

  #receive(chunk: Buffer): void {
    if (this.#peerEnded) return;
    this.#chunks.push(chunk);
    this.#received += chunk.length;
    if (this.#received >= this.#needed && !this.#blocked) this.#answerReceived();
    // Each part costs some hundred octets beside its own: who sends single octets must not fill the memory.
    else if (this.#chunks.length >= MAX_CHUNKS)
      this.#chunks.splice(0, MAX_CHUNKS, Buffer.concat(this.#chunks));
  }

  #unblock(): void {
    if (!this.#blocked) return;
    this.#blocked = false;
    this.#progress();
    this.#answerReceived();
    if (!this.#blocked) this.#socket.resume();
  }

  #endInput(): void {
    this.#peerEnded = true;
    if (!this.#blocked) this.#socket.end();
  }

  #answerReceived(): void {
    const { answerer, reader } = this.#owner.answers;
    answerer.nowMs = Date.now();
    reader.enter();
    try {
      this.#answerMessages();
    } finally {
      reader.leave();
    }
  }

  /** Answers all whole messages until the peer must read first. */
  #answerMessages(): void {
    const input = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    let at = 0;
    let filled = 0;
    this.#needed = LENGTH_OCTETS;
    while (!this.#blocked && input.length - at >= LENGTH_OCTETS) {
      const octets = ((input[at] as number) << 8) | (input[at + 1] as number);
      // Less than a header is no DNS: the stream is out of step, or somebody else's.
      if (octets < HEADER_OCTETS) {
        this.#owner.answers.counters.ignored++;
        if (filled > 0) this.#send(filled);
        this.#drop();
        this.#peerEnded = true;
        this.#socket.destroySoon(); // the answers before it still go out
        return;
      }
      this.#needed = LENGTH_OCTETS + octets;
      if (input.length - at < this.#needed) break;
      filled = this.#answerOne(input, at + LENGTH_OCTETS, octets, filled);
      at += this.#needed;
      this.#needed = LENGTH_OCTETS;
      if (filled >= BATCH_OCTETS) {
        this.#send(filled);
        filled = 0;
      }
    }
    if (filled > 0) this.#send(filled);
    this.#keep(input, at);
    if (at > 0) this.#progress();
    if (this.#peerEnded && !this.#blocked) this.#socket.end();
  }

  #keep(input: Buffer, from: number): void {
    this.#drop();
    if (from === input.length) return;
    // A copy of what is left: a view would keep all of the chunk alive.
    const rest = from === 0 ? input : Buffer.from(input.subarray(from));
    this.#chunks.push(rest);
    this.#received = rest.length;
  }

  /** Appends the answer to the batch, which holds `filled` octets; returns the new count. */
  #answerOne(input: Uint8Array, at: number, octets: number, filled: number): number {
    const { answerer, counters } = this.#owner.answers;
    const startedAt = performance.now();
    const outAt = filled + LENGTH_OCTETS;
    const from = this.#from;
    const room = MAX_MESSAGE_OCTETS;
    const length = answerer.answer(input, at, octets, batch, outAt, room, OVER_TCP, from, 0, from.length);
    if (length === 0) return filled;
    batch[filled] = length >> 8;
    batch[filled + 1] = length;
    counters.observeLatency((performance.now() - startedAt) / 1000);
    return outAt + length;
  }

  #send(octets: number): void {
    if (this.#socket.write(Buffer.from(batch.subarray(0, octets)))) return;
    this.#blocked = true;
    this.#socket.pause();
  }
}
