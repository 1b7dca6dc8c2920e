// DNS over HTTPS with HTTP/2, in which each request is a stream.
//
// Node ends a connection with too many CONTINUATION frames (8), unacknowledged SETTINGS or PING frames, invalid frames or
// streams that the client resets (1,000, and 33 per second; CVE-2023-44487).

import {
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { DohConnection } from './doh-connection.ts';
import type { DohConnections } from './doh-connections.ts';
import { DohExchange } from './doh-exchange.ts';
import { MAX_HEAD_OCTETS } from './read-doh-request.ts';

const MAX_STREAMS = 100;
/** Node resets a stream whose header has more fields or is longer. */
const MAX_FIELDS = 128;
const MAX_READ_HEAD_OCTETS = 2 * MAX_HEAD_OCTETS;
/** In MB, for header tables, streams and unsent frames. Above it, Node refuses streams. */
const MAX_SESSION_MEMORY = 1;
const MAX_INVALID_FRAMES = 100;

/** Serves a socket on which HTTP/2 was negotiated. */
export function serveHttp2(socket: TLSSocket, owner: DohConnections): void {
  let session: ServerHttp2Session | undefined;
  const connection = owner.admit(socket, {
    end: () => session?.close(),
    finish: () => session?.close(), // its GOAWAY frame names the last request that is answered
    destroy() {
      session?.destroy();
      socket.destroy();
    },
  });
  if (connection === undefined) return;
  session = performServerHandshake(socket, {
    maxHeaderListPairs: MAX_FIELDS,
    maxSessionMemory: MAX_SESSION_MEMORY,
    maxSessionInvalidFrames: MAX_INVALID_FRAMES,
    settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: MAX_READ_HEAD_OCTETS },
  });
  session.on('error', ignore); // 'close' of the socket follows
  const take = (stream: ServerHttp2Stream, head: IncomingHttpHeaders, _flags: number, fields: string[]) =>
    serve(stream, head, fields, connection, owner);
  session.on('stream', take);
}

function serve(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  fields: readonly string[],
  connection: DohConnection,
  owner: DohConnections,
): void {
  stream.on('error', ignore); // 'close' follows
  if (stream.closed) return; // the client has reset it
  const { ':method': method, ':path': target = '' } = headers;
  const exchange = new DohExchange(connection, owner, ({ status, headers, body }) => {
    if (stream.closed || stream.destroyed) return;
    stream.respond({ ':status': status, ...headers });
    if (method !== 'HEAD') stream.end(body, status === 200 ? undefined : () => stream.close());
  });
  stream.on('close', () => exchange.close());
  exchange.begin({ method, target, headers, octets: octetsOf(fields) }, stream);
}

function ignore(): void {}

function octetsOf(fields: readonly string[]): number {
  let octets = 0;
  for (const text of fields) octets += text.length;
  return octets;
}
