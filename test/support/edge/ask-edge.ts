// A visitor: requests a URL from the edge as if its host were published there, from any loopback address.

import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import type { PeerCertificate, TLSSocket } from 'node:tls';

export interface EdgePorts {
  readonly httpPort: number;
  readonly httpsPort: number;
}

export interface Visiting {
  readonly method?: string;
  readonly from?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  /** Authorities that a TLS client trusts, PEM. */
  readonly ca?: string;
  /** Set if it differs from the URL's host. */
  readonly servername?: string;
}

export interface EdgeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The request as received by the test's origin. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  readonly json: any;
  readonly certificate: PeerCertificate | undefined;
}

const CLIENT = '127.0.0.1';

/** Rejects if there is no response, for example if the TLS handshake fails. */
export async function askEdge(edge: EdgePorts, url: string, visiting: Visiting = {}): Promise<EdgeAnswer> {
  const { response, certificate } = await open(edge, url, visiting);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const isJson = /json/.test(response.headers['content-type'] ?? '');
  return {
    status: response.statusCode as number,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
    certificate,
  };
}

/** Returns the joined ends, or the status of the refusal. */
export function openWebsocket(edge: EdgePorts, url: string): Promise<Duplex | number> {
  return new Promise((resolve, reject) => {
    const outgoing = requestOf(edge, url, { headers: { connection: 'upgrade', upgrade: 'websocket' } });
    outgoing.on('upgrade', (_response, socket) => resolve(socket));
    outgoing.on('response', (response) => {
      response.resume();
      resolve(response.statusCode as number);
    });
    outgoing.on('error', reject).end();
  });
}

function open(
  edge: EdgePorts,
  url: string,
  visiting: Visiting,
): Promise<{ response: IncomingMessage; certificate: PeerCertificate | undefined }> {
  return new Promise((resolve, reject) => {
    const outgoing = requestOf(edge, url, visiting);
    outgoing.on('response', (response) => {
      const { socket } = response;
      const certificate = 'encrypted' in socket ? (socket as TLSSocket).getPeerCertificate() : undefined;
      resolve({ response, certificate });
    });
    outgoing.on('error', reject).end(visiting.body);
  });
}

function requestOf(
  edge: EdgePorts,
  url: string,
  { method = 'GET', from = CLIENT, headers, ca, servername }: Visiting,
) {
  // Not with URL, which would normalize the path before the edge sees it.
  const [, scheme, host = '', path = ''] = /^(https?):\/\/([^/?]+)(.*)$/.exec(url) ?? [];
  const common = {
    agent: false as const,
    host: CLIENT,
    localAddress: from,
    method,
    path: path === '' ? '/' : path,
    headers: { host, ...headers },
  };
  if (scheme === 'http') return requestHttp({ ...common, port: edge.httpPort });
  return requestHttps({
    ...common,
    port: edge.httpsPort,
    servername: servername ?? host,
    ...(ca !== undefined && { ca }),
    rejectUnauthorized: ca !== undefined,
  });
}
