// Sends one query to one nameserver address, in the ways of ways.ts until one is answered. Every attempt has its own id and
// letter case. The contents of the reply are not evaluated: SERVFAIL is a reply.

import type { Need } from '../../checks/delegation/evidence.ts';
import type { Message } from '../../dns/message/message.ts';
import { RCODE } from '../../dns/message/rcodes.ts';
import { foldCase, type Name } from '../../dns/name.ts';
import type { AttemptOptions, AttemptResult, Transport } from './attempt-result.ts';
import { encodeQuery } from './encode-query.ts';
import { TcpExchange } from './exchange-tcp.ts';
import { UdpExchange } from './exchange-udp.ts';
import { MIXING_BYTES, mixCase } from './mixed-case.ts';
import { OpenSockets } from './open-sockets.ts';
import { RandomBytes } from './random-bytes.ts';
import { ServerMemory } from './server-memory.ts';
import { readTarget, type Target } from './target.ts';
import {
  type Ended,
  isSameWay,
  type Known,
  needsOf,
  ORDINARY,
  onlyWay,
  type Way,
  type Ways,
  waysFor,
} from './ways.ts';

export interface Question {
  readonly name: Name;
  readonly type: number;
}

/** Sends the query only in this way, to find out if the server accepts it. There is no fallback, and nothing is cached. */
export interface AskedWay {
  readonly transport?: 'tcp';
  /** False: without EDNS from the start. */
  readonly edns?: boolean;
  /** True: only the ordinary way. Implied by the other fields. */
  readonly isExact?: boolean;
}

export type QueryResult =
  /**
   * The reply matches the query. Its names may have the query's mixed case. `rttMs` is the round-trip time of the last
   * packet.
   */
  | {
      readonly kind: 'reply';
      readonly message: Message;
      readonly transport: 'udp' | 'tcp';
      readonly rttMs: number;
      /** How the query had to be changed before the server answered it. Absent if it answered the first query. */
      readonly needed?: readonly Need[];
    }
  /** No reply came. If `error` is set, no query was sent. */
  | { readonly kind: 'timeout'; readonly error?: string }
  /** No usable reply. `error` is a human-readable reason. */
  | { readonly kind: 'bad'; readonly error: string };

export interface Exchange {
  /** Rejects only with the signal's reason when it aborts. Calls `onPacket` before each packet. */
  ask(
    address: string,
    question: Question,
    options: { signal: AbortSignal; onPacket: () => void } & AskedWay,
  ): Promise<QueryResult>;
  /** Open queries become `bad`. */
  close(): Promise<void>;
}

export interface ExchangeOptions {
  readonly port: number;
  /** Time limit of one attempt. Attempts after the first one without a reply share this time. */
  readonly timeoutMs?: number;
  readonly maxSockets?: number;
  /** True if the servers are resolvers, which are queried with RD=1. */
  readonly recursive?: boolean;
  /** Maps an address to the destination of its packets. Tests run their internet on loopback sockets. */
  readonly route?: (address: string) => { address: string; port: number };
  readonly now?: () => number;
  /** Replaces sockets. Tests run their internet in memory. */
  readonly transports?: Readonly<Record<Way['transport'], Transport>>;
}

const DEFAULT_TIMEOUT_MS = 3000;
/** Distant or busy servers need up to a second. */
const SHORTEST_LATER_MS = 1000;
const DEFAULT_MAX_SOCKETS = 500;
const MAX_KEPT_TARGETS = 20_000;
/** A parent with two addresses may cost three times the packets of an ordinary one, including the walk. */
const MOST_ATTEMPTS = 4;

const CLOSED = 'the exchange was closed';

export function createExchange(options: ExchangeOptions): Exchange {
  return new SocketExchange(options);
}

interface Attempt {
  readonly way: Way;
  readonly ended: Ended;
  readonly result: AttemptResult;
  /** True if the query had capital letters. With few letters, random case may produce none. */
  readonly hadCapitals: boolean;
  readonly timeoutMs: number;
}

class SocketExchange implements Exchange {
  readonly #route: (address: string) => { address: string; port: number };
  readonly #timeoutMs: number;
  readonly #recursive: boolean;
  readonly #random = new RandomBytes();
  readonly #transports: Readonly<Record<Way['transport'], Transport>>;
  readonly #memory: ServerMemory;
  readonly #targets = new Map<string, Target>();
  #isClosed = false;

  constructor(options: ExchangeOptions) {
    const { port, route = (address: string) => ({ address, port }) } = options;
    this.#route = route;
    this.#recursive = options.recursive ?? false;
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const sockets = new OpenSockets(options.maxSockets ?? DEFAULT_MAX_SOCKETS);
    this.#transports = options.transports ?? {
      udp: new UdpExchange(sockets, this.#random),
      tcp: new TcpExchange(sockets, this.#random),
    };
    this.#memory = new ServerMemory(options.now ?? Date.now);
  }

  async ask(
    address: string,
    question: Question,
    { transport, edns = true, isExact = false, ...options }: AskOptions & AskedWay,
  ): Promise<QueryResult> {
    const target = this.#targetOf(address);
    if (target === undefined) return { kind: 'bad', error: `"${address}" is not an address` };
    if (isExact || this.#recursive || transport !== undefined || !edns) {
      const ways = onlyWay({ transport: transport ?? 'udp', edns, mixed: transport === undefined });
      const tried = await this.#try(ways, target, question, { ...options, laterMs: this.#timeoutMs });
      const last = tried.at(-1);
      return last?.ended === 'replied'
        ? replied(last, edns && !last.way.edns ? ['no_edns'] : [])
        : failureOf(tried);
    }
    const known = this.#memory.knownOf(address);
    const laterMs = Math.min(
      this.#timeoutMs,
      Math.max(SHORTEST_LATER_MS, Math.ceil(this.#timeoutMs / (MOST_ATTEMPTS - 1))),
    );
    const tried = await this.#try(waysFor(known), target, question, { ...options, known, laterMs });
    this.#remember(address, known, tried);
    const last = tried.at(-1);
    const refused = tried.find(({ ended }) => ended === 'refused');
    if (refused !== undefined && (last?.ended !== 'replied' || isRefusal(last))) return replied(refused, []);
    if (last?.ended !== 'replied') return failureOf(tried);
    // An ordinary server needs no changes: packets were lost.
    return replied(last, known.kind === 'ordinary' ? [] : needsOf(tried));
  }

  /** Tries the ways in order and returns the attempts, at least one. */
  async #try(
    ways: Ways,
    target: Target,
    question: Question,
    { known, laterMs, ...options }: AskOptions & { known?: Known; laterMs: number },
  ): Promise<Attempt[]> {
    const tried: Attempt[] = [];
    let timeoutMs = this.#timeoutMs;
    for (let next = ways.next(); !next.done && tried.length < MOST_ATTEMPTS; ) {
      const attempt = await this.#attempt(target, question, next.value, { ...options, timeoutMs, known });
      tried.push(attempt);
      if (attempt.ended === 'silent' || attempt.ended === 'refused') timeoutMs = laterMs;
      next = ways.next(attempt.ended);
    }
    return tried;
  }

  async #attempt(
    target: Target,
    { name, type }: Question,
    way: Way,
    { known, ...options }: AttemptOptions & { known: Known | undefined },
  ): Promise<Attempt> {
    const { timeoutMs } = options;
    options.signal.throwIfAborted();
    if (this.#isClosed) {
      const result: AttemptResult = { kind: 'failed', error: CLOSED };
      return { way, ended: 'failed', result, hadCapitals: false, timeoutMs };
    }
    const query = encodeQuery(foldCase(name), type, way.edns, this.#recursive);
    const hadCapitals = way.mixed && mixCase(query, this.#random.take(MIXING_BYTES));
    const result = await this.#transports[way.transport].ask(target, query, options);
    const mayBeForCase = hadCapitals && (known?.kind === 'unknown' || known?.kind === 'needs');
    const ended = endOf(result, mayBeForCase);
    return { way, ended, result, hadCapitals, timeoutMs };
  }

  #remember(address: string, known: Known, tried: readonly Attempt[]): void {
    const last = tried.at(-1);
    const accepted = tried.find(({ ended }) => ended === 'truncated') ?? last;
    if (last === undefined || accepted === undefined) return;
    if (accepted.ended !== 'replied' && accepted.ended !== 'truncated') {
      if (known.kind === 'needs') this.#memory.forgetNeeds(address);
      return;
    }
    // A server that refuses this zone in any case may refuse other queries because of their letter case.
    const isInconclusive =
      tried.some(({ ended }) => ended === 'refused') && last.ended === 'replied' && isRefusal(last);
    // A server that accepts only lower case would also have replied.
    const hadLowerCaseOnly = accepted.way.mixed && !accepted.hadCapitals;
    if (isInconclusive || hadLowerCaseOnly) return;
    if (isSameWay(accepted.way, ORDINARY)) this.#memory.setOrdinary(address);
    else if (last.ended === 'replied') this.#memory.setNeeds(address, accepted.way);
  }

  /** Returns the same object for the same address, because it is the key of its ports. */
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
    this.#transports.udp.close(CLOSED);
    this.#transports.tcp.close(CLOSED);
  }
}

type AskOptions = Pick<AttemptOptions, 'signal' | 'onPacket'>;

/** `mayBeForCase`: the server may refuse a query because of its letter case. */
function endOf(result: AttemptResult, mayBeForCase: boolean): Ended {
  switch (result.kind) {
    case 'reply':
      return mayBeForCase && isRefusal({ result }) ? 'refused' : 'replied';
    case 'silence':
      return 'silent';
    default:
      return result.kind;
  }
}

function isRefusal({ result }: Pick<Attempt, 'result'>): boolean {
  return (
    result.kind === 'reply' &&
    (result.message.rcode === RCODE.REFUSED || result.message.rcode === RCODE.SERVFAIL)
  );
}

/** Rounds to microseconds, because further digits are clock noise. */
function replied({ way, result }: Attempt, needed: readonly Need[]): QueryResult {
  const { message, rttMs } = result as Extract<AttemptResult, { kind: 'reply' }>;
  const rounded = Math.round(rttMs * 1000) / 1000;
  return {
    kind: 'reply',
    message,
    transport: way.transport,
    rttMs: rounded,
    ...(needed.length > 0 && { needed }),
  };
}

/** Returns a timeout if no reply came over UDP, regardless of TCP. If the server did react over UDP, returns `bad`. */
function failureOf(tried: readonly Attempt[]): QueryResult {
  const overUdp = tried.filter(({ way }) => way.transport === 'udp');
  const cause = overUdp.find(({ ended }) => ended !== 'silent' && ended !== 'edns_refused');
  const tcp = tried.findLast(({ way }) => way.transport === 'tcp');
  if (cause === undefined && overUdp.length > 0) {
    const unreadable = overUdp.findLast(({ result }) => errorOf(result) !== undefined);
    return unreadable === undefined
      ? { kind: 'timeout' }
      : { kind: 'bad', error: `${errorOf(unreadable.result)}` };
  }
  const why = cause === undefined ? 'queried over TCP' : whyOf(cause);
  return { kind: 'bad', error: tcp === undefined ? why : `${why}; over TCP: ${describe(tcp)}` };
}

function whyOf({ ended, result }: Attempt): string {
  if (ended === 'truncated') return 'the reply over UDP was truncated';
  if (ended === 'other_case') return 'the letter case of the reply over UDP differed from the query';
  return errorOf(result) ?? 'the reply is not usable';
}

function describe({ result, timeoutMs }: Attempt): string {
  if (result.kind === 'silence') return result.error ?? `no reply within ${timeoutMs} ms`;
  if (result.kind === 'truncated') return 'truncated as well';
  return errorOf(result) ?? 'the reply is not usable';
}

function errorOf(result: AttemptResult): string | undefined {
  return 'error' in result ? result.error : undefined;
}
