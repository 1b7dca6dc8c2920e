// One request of DNS over HTTPS and its response, the same for all versions of HTTP.

import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { DohConnection, DohResponse } from './doh-connection.ts';
import type { DohConnections } from './doh-connections.ts';
import { readBody } from './read-body.ts';
import { MAX_HEAD_OCTETS, readDohRequest } from './read-doh-request.ts';

/** Memory of Node for a request and its response, besides the messages. */
const EXCHANGE_BYTES = 2048;

interface HttpHead {
  readonly method: string | undefined;
  /** Path and query string. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Total length of the names and values of all fields. */
  readonly octets: number;
}

export class DohExchange {
  readonly #connection: DohConnection;
  readonly #owner: DohConnections;
  readonly #send: (response: DohResponse) => void;
  #heldBytes = 0;
  #isDone = false;

  /** @param send writes a response, unless the client has cancelled the request */
  constructor(connection: DohConnection, owner: DohConnections, send: (response: DohResponse) => void) {
    this.#connection = connection;
    this.#owner = owner;
    this.#send = send;
  }

  /** Answers the request, later if its body is not received or other connections are served first. */
  begin({ method, target, headers, octets }: HttpHead, body: Readable): void {
    const isLong = octets > MAX_HEAD_OCTETS;
    const request = isLong ? 431 : readDohRequest(method, target, headers);
    if (request !== 'body') {
      this.#hold(EXCHANGE_BYTES + (typeof request === 'number' ? 0 : request.length));
      this.#take(request);
      return;
    }
    this.#hold(EXCHANGE_BYTES);
    this.#connection.startReading(this);
    readBody(body, {
      hold: (bytes) => this.#hold(bytes),
      done: (read) => this.#take(read),
    });
  }

  readonly respond = (response: DohResponse): void => {
    if (this.#isDone) return;
    this.#hold(response.body.length);
    this.#isDone = true;
    this.#owner.countStatus(response.status);
    this.#send(response);
  };

  /** Call it when the response was sent or the request cancelled. */
  close(): void {
    this.#isDone = true;
    this.#connection.drop(this);
    this.#owner.release(this.#connection, this.#heldBytes);
    this.#heldBytes = 0;
  }

  #take(query: Uint8Array | number): void {
    if (!this.#isDone) this.#connection.take(this, query);
  }

  /** Counts nothing after the response, because nothing would release it. */
  #hold(bytes: number): void {
    if (this.#isDone) return;
    this.#heldBytes += bytes;
    this.#owner.hold(this.#connection, bytes);
  }
}
