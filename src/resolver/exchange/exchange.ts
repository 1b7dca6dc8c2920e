// One question to one nameserver address.
//
//   UDP ──> reply                                   it answers what was asked, letter for letter
//    ├──> nothing in time ──> UDP once more ──> timeout, or bad when something came that cannot be read
//    ├──> FORMERR, NOTIMP, BADVERS ──> the same without EDNS (RFC 6891 §7)
//    ├──> TC, or other case ──> TCP ──> reply, or bad
//    └──> refused, no route ──> bad
//
// Every attempt has an id of its own and other letter case. What the reply says is not judged here: SERVFAIL is a reply.

import type { Message } from '../../dns/message/message.ts';
import type { Name } from '../../dns/name.ts';
import type { AttemptOptions, AttemptResult } from './attempt-result.ts';
import { encodeQuery } from './encode-query.ts';
import { TcpExchange } from './exchange-tcp.ts';
import { UdpExchange } from './exchange-udp.ts';
import { MIXING_BYTES, mixCase } from './mixed-case.ts';
import { OpenSockets } from './open-sockets.ts';
import { RandomBytes } from './random-bytes.ts';
import { readTarget, type Target } from './target.ts';

export interface Question {
  readonly name: Name;
  readonly type: number;
}

/** A question that is to be asked in one way only, to see how a server takes it. */
export interface AskedWay {
  /** `tcp`: over TCP at once. */
  readonly transport?: 'tcp';
  /** False: without EDNS from the start. */
  readonly edns?: boolean;
}

export type QueryResult =
  /**
   * The reply matches the question; its names may have the question's mixed case. `rttMs` is the round trip of the last
   * packet.
   */
  | {
      readonly kind: 'reply';
      readonly message: Message;
      readonly transport: 'udp' | 'tcp';
      readonly rttMs: number;
      /** The server refused the question with EDNS, and answered it without. */
      readonly refusedEdns?: true;
    }
  /** No reply came. With an error, no question was sent. */
  | { readonly kind: 'timeout'; readonly error?: string }
  /** No usable reply; `error` says why, in words for people. */
  | { readonly kind: 'bad'; readonly error: string };

export interface Exchange {
  /** Rejects only with the signal's reason, when it aborts. `onPacket` is called before each packet that is sent. */
  ask(
    address: string,
    question: Question,
    options: { signal: AbortSignal; onPacket: () => void } & AskedWay,
  ): Promise<QueryResult>;
  /** Questions that are open become `bad`. */
  close(): Promise<void>;
}

export interface ExchangeOptions {
  readonly port: number;
  /** The time limit of one attempt. */
  readonly timeoutMs?: number;
  /** How many times a question is sent over UDP. */
  readonly attempts?: number;
  readonly maxSockets?: number;
  /** The servers are resolvers: asked with RD=1. */
  readonly recursive?: boolean;
  /** Maps an address to where its packets are sent: tests keep their internet on loopback sockets. */
  readonly route?: (address: string) => { address: string; port: number };
}

const DEFAULT_TIMEOUT_MS = 3000;
const DEFAULT_ATTEMPTS = 2;
const DEFAULT_MAX_SOCKETS = 500;
const MAX_KEPT_TARGETS = 20_000;

const CLOSED = 'the exchange was closed';

export function createExchange(options: ExchangeOptions): Exchange {
  return new SocketExchange(options);
}

class SocketExchange implements Exchange {
  readonly #route: (address: string) => { address: string; port: number };
  readonly #attempts: number;
  readonly #timeoutMs: number;
  readonly #recursive: boolean;
  readonly #random = new RandomBytes();
  readonly #udp: UdpExchange;
  readonly #tcp: TcpExchange;
  readonly #targets = new Map<string, Target>();
  #isClosed = false;

  constructor(options: ExchangeOptions) {
    const { port, route = (address: string) => ({ address, port }) } = options;
    this.#route = route;
    this.#attempts = options.attempts ?? DEFAULT_ATTEMPTS;
    this.#recursive = options.recursive ?? false;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const sockets = new OpenSockets(options.maxSockets ?? DEFAULT_MAX_SOCKETS);
    this.#udp = new UdpExchange(sockets, this.#random, this.#timeoutMs);
    this.#tcp = new TcpExchange(sockets, this.#random, this.#timeoutMs);
  }

  async ask(
    address: string,
    question: Question,
    { transport, edns: wantsEdns = true, ...options }: AttemptOptions & AskedWay,
  ): Promise<QueryResult> {
    const target = this.#targetOf(address);
    if (target === undefined) return { kind: 'bad', error: `"${address}" is not an address` };
    if (transport === 'tcp') return this.#askTcp('asked over TCP', target, question, wantsEdns, options);
    let edns: boolean = wantsEdns;
    let silences = 0;
    let unreadable: string | undefined;
    for (;;) {
      const result = await this.#attempt(this.#udp, target, question, edns, options);
      switch (result.kind) {
        case 'reply':
          return replied(result, 'udp', wantsEdns && !edns);
        case 'failed':
          return { kind: 'bad', error: result.error };
        case 'truncated':
          return this.#askTcp('the reply over UDP was cut short', target, question, edns, options);
        case 'other_case': {
          const why = 'the reply over UDP had not the letters of the question';
          return this.#askTcp(why, target, question, edns, options);
        }
        case 'edns_refused':
          edns = false;
          break;
        case 'silence':
          unreadable = result.error ?? unreadable;
          if (++silences < this.#attempts) break;
          return unreadable === undefined ? { kind: 'timeout' } : { kind: 'bad', error: unreadable };
        default:
          return result satisfies never;
      }
    }
  }

  /** The last resort. The server did answer, so a failure here is `bad`, not a timeout. */
  async #askTcp(
    why: string,
    target: Target,
    question: Question,
    edns: boolean,
    options: AttemptOptions,
  ): Promise<QueryResult> {
    let result = await this.#attempt(this.#tcp, target, question, edns, options);
    const isRefused = result.kind === 'edns_refused';
    if (isRefused) result = await this.#attempt(this.#tcp, target, question, false, options);
    if (result.kind === 'reply') return replied(result, 'tcp', isRefused);
    return { kind: 'bad', error: `${why}, and over TCP: ${this.#describe(result)}` };
  }

  #describe(result: Exclude<AttemptResult, { kind: 'reply' }>): string {
    if (result.kind === 'failed') return result.error;
    if (result.kind === 'silence') return `no reply within ${this.#timeoutMs} ms`;
    return result.kind === 'truncated' ? 'cut short as well' : 'a reply that cannot be used';
  }

  async #attempt(
    over: UdpExchange | TcpExchange,
    target: Target,
    { name, type }: Question,
    edns: boolean,
    options: AttemptOptions,
  ): Promise<AttemptResult> {
    options.signal.throwIfAborted();
    if (this.#isClosed) return { kind: 'failed', error: CLOSED };
    const query = encodeQuery(name, type, edns, this.#recursive);
    mixCase(query, this.#random.take(MIXING_BYTES));
    return over.ask(target, query, options);
  }

  /** Gives the same object for the same address, since ports are found by it. */
  #targetOf(address: string): Target | undefined {
    const known = this.#targets.get(address);
    if (known !== undefined) return known;
    const to = this.#route(address);
    const target = readTarget(to.address, to.port);
    if (target === undefined) return undefined;
    if (this.#targets.size >= MAX_KEPT_TARGETS) this.#targets.clear();
    this.#targets.set(address, target);
    return target;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#udp.close(CLOSED);
    this.#tcp.close(CLOSED);
  }
}

/** The time is rounded to the microsecond; further digits are noise of the clock. */
function replied(
  { message, rttMs }: Extract<AttemptResult, { kind: 'reply' }>,
  transport: 'udp' | 'tcp',
  refusedEdns: boolean,
): QueryResult {
  const rounded = Math.round(rttMs * 1000) / 1000;
  return { kind: 'reply', message, transport, rttMs: rounded, ...(refusedEdns && { refusedEdns }) };
}
