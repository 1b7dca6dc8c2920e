// One connection of DNS over HTTPS, with HTTP/1.1 or HTTP/2. Answers the requests that were received whole, some of
// them in each of its turns.

import { TRANSPORT } from '../answer/transports.ts';
import type { TcpAnswers } from '../tcp/tcp-connection.ts';
import type { NetworkConnection, TcpNetwork } from '../tcp/tcp-network.ts';
import type { TcpTurns } from '../tcp/tcp-turns.ts';
import { answerLifetime } from './answer-lifetime.ts';
import { DNS_MESSAGE } from './read-doh-request.ts';

/** The part of a connection that differs between the versions of HTTP. */
export interface DohWire {
  /** Ends the connection when the responses to the requests received so far are sent. */
  end(): void;
  /** Like `end`, but waits for the next response if a request could be lost otherwise. */
  finish(): void;
  /** Destroys the connection immediately. */
  destroy(): void;
}

export interface DohResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: Buffer;
}

interface DohRequest {
  /** Has no effect if the client has cancelled the request. */
  respond(response: DohResponse): void;
}

interface DohClient {
  readonly address: Uint8Array;
  readonly port: number;
  /** The address of this node. */
  readonly local: Uint8Array | undefined;
  readonly localPort: number | undefined;
}

interface DohOwner {
  readonly answers: TcpAnswers;
  readonly turns: TcpTurns;
  readonly now: () => number;
  /** Records that the connection has answered requests. */
  progress(connection: DohConnection): void;
  forget(connection: DohConnection): void;
}

const MAX_MESSAGE_OCTETS = 65_535;
/** Maximum number of requests, or octets of answers, in one turn. */
const TURN_REQUESTS = 16;
const TURN_OCTETS = 16_384;
/** Cost of a request (see TcpTurns): HTTP takes about ten times as long as the answer. */
const REQUEST_COST = 8;
/** Maximum number of cancelled requests, less those answered: the client causes work without waiting for its turn. */
const MAX_CANCELLED = 100;
const REASONS: Readonly<Record<number, string>> = {
  400: 'the request has no valid DNS query',
  404: 'the path is /dns-query',
  405: 'use GET or POST',
  408: 'the request was not received in time',
  413: 'the query is larger than 65535 octets',
  415: `the content type is ${DNS_MESSAGE}`,
  431: 'the header is larger than 16 KiB',
};

const out = new Uint8Array(MAX_MESSAGE_OCTETS);

export function errorResponse(status: number): DohResponse {
  const body = Buffer.from(`${REASONS[status]}\n`);
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': body.length,
    'cache-control': 'no-store',
    ...(status === 405 && { allow: 'GET, POST' }), // RFC 9110 §15.5.6
  };
  return { status, headers, body };
}

export class DohConnection implements NetworkConnection {
  readonly network: TcpNetwork;
  progressAt: number;
  /** Bytes of unfinished requests and unsent responses. */
  heldBytes = 0;
  readonly #wire: DohWire;
  readonly #client: DohClient;
  readonly #owner: DohOwner;
  /** Requests that were received whole, each with its query, or the status of its error. */
  readonly #waiting = new Map<DohRequest, Uint8Array | number>();
  /** Requests whose body is not received whole, with the time at which they began. */
  readonly #reading = new Map<DohRequest, number>();
  #cancelled = 0;

  constructor(wire: DohWire, client: DohClient, network: TcpNetwork, owner: DohOwner) {
    this.#wire = wire;
    this.#client = client;
    this.network = network;
    this.#owner = owner;
    this.progressAt = owner.now();
  }

  get hasQueries(): boolean {
    return this.#waiting.size > 0;
  }

  startReading(request: DohRequest): void {
    this.#reading.set(request, this.#owner.now());
  }

  /** Refuses requests whose body began before this time and is not received whole. */
  expireRequests(beforeMs: number): void {
    for (const [request, startedAtMs] of this.#reading) {
      if (startedAtMs > beforeMs) return; // all others are newer
      this.#reading.delete(request);
      request.respond(errorResponse(408));
    }
  }

  /** Answers a request in one of the next turns. `query` is the status if the request has an error. */
  take(request: DohRequest, query: Uint8Array | number): void {
    this.#reading.delete(request);
    this.#waiting.set(request, query);
    if (this.#waiting.size === 1) this.#owner.turns.take(this);
  }

  /** Call it when a request has ended. A cancelled one must not stay in memory until its turn. */
  drop(request: DohRequest): void {
    const wasWaiting = this.#waiting.delete(request);
    if (wasWaiting && !this.hasQueries) this.#owner.turns.forget(this);
    const isCancelled = this.#reading.delete(request) || wasWaiting;
    if (isCancelled && ++this.#cancelled > MAX_CANCELLED) this.destroy();
  }

  answerSome(): number {
    const { answerer, reader } = this.#owner.answers;
    answerer.nowMs = Date.now();
    let requests = 0;
    let octets = 0;
    reader.enter();
    try {
      for (const [request, query] of this.#waiting) {
        this.#waiting.delete(request);
        requests++;
        octets += this.#answer(request, query);
        if (requests >= TURN_REQUESTS || octets >= TURN_OCTETS) break;
      }
    } finally {
      reader.leave();
    }
    this.#cancelled = Math.max(0, this.#cancelled - requests);
    this.network.asked(requests);
    this.#owner.progress(this);
    return 1 + REQUEST_COST * requests + (octets >> 10);
  }

  /** Reading continues, because HTTP bounds the number of waiting requests. */
  hold(): void {}
  release(): void {}

  end(): void {
    this.#wire.end();
  }

  finish(): void {
    this.#wire.finish();
  }

  destroy(): void {
    this.#owner.forget(this);
    this.#wire.destroy();
  }

  /** Discards all requests. */
  clear(): void {
    this.#waiting.clear();
    this.#reading.clear();
  }

  /** Returns the length of the answer. */
  #answer({ respond }: DohRequest, query: Uint8Array | number): number {
    if (typeof query === 'number') {
      respond(errorResponse(query));
      return 0;
    }
    const { answerer, counters, sampler } = this.#owner.answers;
    const startedAtMs = performance.now();
    answerer.client.set(TRANSPORT.HTTPS, this.#client.address);
    const octets = answerer.answer(query, 0, query.length, out, 0, MAX_MESSAGE_OCTETS);
    if (octets === 0) {
      respond(errorResponse(400));
      return 0;
    }
    if (sampler?.isDue(answerer.nowMs))
      sampler.add(answerer, {
        ...this.#client,
        query,
        queryAt: 0,
        queryOctets: query.length,
        answer: out,
        answerAt: 0,
        answerOctets: octets,
        startedAtMs,
      });
    counters.observeLatency((performance.now() - startedAtMs) / 1000);
    const body = Buffer.from(out.subarray(0, octets));
    const headers = {
      'content-type': DNS_MESSAGE,
      'content-length': octets,
      'cache-control': `max-age=${answerLifetime(body)}`,
    };
    respond({ status: 200, headers, body });
    return octets;
  }
}
