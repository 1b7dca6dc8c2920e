// Serves /metrics, /healthz and /readyz of a process over HTTP (docs/rules.md "Health and held removals"), on a separate
// address.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { createBoundedServer, type ServerLimits } from './http/bounded-server.ts';
import { isOurHost, MISDIRECTED, NOT_OUR_HOST } from './judge-host.ts';
import type { ListenAddress } from './listen-address.ts';
import { listenFault } from './listen-fault.ts';
import { addProcessMetrics } from './metrics/add-process-metrics.ts';

/** Tells if the process can do its work and, if not, why, for the operator. */
export type Readiness =
  /** `warnings`: conditions that an operator should look into although the process works, one per line. */
  | { readonly kind: 'ready'; readonly warnings?: readonly string[] }
  | { readonly kind: 'waiting'; readonly reason: string };

export interface HealthListener {
  readonly address: ListenAddress;
  readonly server: Server;
  close(): Promise<void>;
}

/** For scrapers and probes. */
const HEALTH_LIMITS: ServerLimits = {
  connections: 64,
  perNetwork: 32,
  unreadBytes: 16 * 1024 * 1024,
  headersTimeoutMs: 5000,
  requestTimeoutMs: 5000,
  keepAliveTimeoutMs: 72_000, // scrapers come once per minute
};

/**
 * The address is METRICS_LISTEN, and `hosts` are METRICS_HOSTS. `inherited` is a listening socket of the process that this
 * one replaces. Throws StartFault if it cannot listen.
 */
export async function listenHealth(
  { address: host, port }: ListenAddress,
  registry: Registry,
  readiness: () => Readiness | Promise<Readiness>,
  hosts: readonly string[] = [],
  inherited?: number,
): Promise<HealthListener> {
  addProcessMetrics(registry, readiness);
  const server = createBoundedServer(HEALTH_LIMITS, (request, response) => {
    if (!isOurHost(request.headers.host, hosts)) return send(response, MISDIRECTED, `${NOT_OUR_HOST}\n`);
    respond(request, response, registry, readiness).catch((error: unknown) => {
      if (!response.headersSent) send(response, 500, `${String(error)}\n`);
      else response.destroy();
    });
  });
  await new Promise<void>((done, fail) => {
    server.once('error', (error) => fail(listenFault('METRICS_LISTEN', error)));
    server.listen(inherited === undefined ? { host, port, exclusive: true } : { fd: inherited }, done);
  });
  server.removeAllListeners('error');
  server.on('error', () => {}); // a failed accept: the scraper retries
  const bound = server.address() as AddressInfo;
  return {
    address: { address: bound.address, port: bound.port },
    server,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  registry: Registry,
  readiness: () => Readiness | Promise<Readiness>,
): Promise<void> {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    return send(response, 405, 'only GET and HEAD are allowed\n');
  }
  switch (request.url?.split('?')[0]) {
    case '/metrics':
      return send(response, 200, await registry.metrics(), registry.contentType);
    case '/healthz':
      return send(response, 200, 'alive\n');
    case '/readyz': {
      const state = await readiness();
      if (state.kind === 'ready') {
        const warnings = (state.warnings ?? []).map((warning) => `warning: ${warning}\n`);
        return send(response, 200, ['ready\n', ...warnings].join(''));
      }
      response.setHeader('Retry-After', '1');
      return send(response, 503, `${state.reason}\n`);
    }
    default:
      return send(response, 404, 'available paths: /metrics, /healthz, /readyz\n');
  }
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  contentType = 'text/plain; charset=utf-8',
): void {
  response.writeHead(status, { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}
