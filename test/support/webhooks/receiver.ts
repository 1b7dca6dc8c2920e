// A receiver of webhooks on loopback, over TLS, for any names.

import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { makeCertificate } from '../certificates/make-certificate.ts';

export interface Received {
  readonly host: string | undefined;
  readonly sni: string | false | null | undefined;
  readonly path: string | undefined;
  readonly method: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Receiver {
  readonly port: number;
  /** PEM: whom to trust. */
  readonly roots: string;
  readonly received: Received[];
  /** Connections since the start. */
  readonly connections: () => number;
  /** How it answers from now on; by default 200. */
  answer(how: (response: ServerResponse, request: IncomingMessage) => void): void;
  close(): Promise<void>;
}

export async function startReceiver(names: readonly string[], address = '127.0.0.1'): Promise<Receiver> {
  const { pem, key } = await makeCertificate({ names });
  const received: Received[] = [];
  const ok = (response: ServerResponse) => void response.end('a body that nobody reads');
  let how: (response: ServerResponse, request: IncomingMessage) => void = ok;
  let connections = 0;
  const server = createServer({ cert: pem, key }, async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const { method, url: path, headers, socket } = request;
    const sni = (socket as TLSSocket).servername;
    received.push({ host: headers.host, sni, path, method, headers, body });
    how(response, request);
  });
  server.on('connection', () => connections++);
  server.on('tlsClientError', () => {});
  server.listen(0, address);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    roots: pem,
    received,
    connections: () => connections,
    answer: (next) => {
      how = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** As docs/api.md tells receivers to do it. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const [, at, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['zonefleet-signature'])) ?? [];
  return mac === createHmac('sha256', secret).update(`${at}.${body}`).digest('hex');
}
