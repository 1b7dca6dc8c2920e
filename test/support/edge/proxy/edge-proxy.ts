// A proxy that really forwards HTTP and TLS and obeys the config of `/edge/v1`: the tests' independent witness of what the
// API promises. Of the sources it knows only the shape of what an edge is told.

import { lookup } from 'node:dns/promises';
import { createServer as createHttpServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, BlockList, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { SecureContext, TLSSocket } from 'node:tls';
import type { PurgeTarget } from '../../../../src/edge/purges/purge-target.ts';
import { listOf } from '../origin/judge-address.ts';
import { EdgeCache } from './cache.ts';
import { Certificates } from './certificates.ts';
import { ConfigStore } from './config-store.ts';
import { findHost, hostOf } from './find-host.ts';
import { CacheReporter } from './report-cache.ts';
import { RequestReporter } from './report-requests.ts';
import { answerRequest, answerUpgrade, REFRESHER } from './serve.ts';
import type { EdgeProxyOptions, Serving } from './serving.ts';
import type { Seen } from './visit.ts';

export interface EdgeProxy {
  readonly configs: ConfigStore;
  readonly httpPort: number;
  readonly httpsPort: number;
  /** What it did with each request, the oldest first. */
  readonly seen: readonly Seen[];
  /** Takes away what it has cached. */
  purge(domain: string, target: PurgeTarget): void;
  /** What it says of its cache; somebody starts it. */
  readonly cacheReporter: CacheReporter;
  /** What it says of requests; somebody starts it. */
  readonly requestReporter: RequestReporter;
  /** Lets its clock go on. */
  pass(seconds: number): void;
  stop(): Promise<void>;
}

export async function startEdgeProxy(options: EdgeProxyOptions = {}): Promise<EdgeProxy> {
  let passedMs = 0;
  const now = () => Date.now() + passedMs;
  const configs = new ConfigStore();
  const turns = new Map<string, number>();
  const cacheReporter = new CacheReporter(configs, now);
  const serving: Serving = {
    configs,
    options,
    seen: [],
    requestReporter: new RequestReporter(configs),
    now,
    cache: new EdgeCache(cacheReporter),
    ways: { resolve: options.resolve ?? resolveBySystem, allowed: allowedOf(options) },
    nextTurn(host) {
      const turn = turns.get(host) ?? 0;
      turns.set(host, turn + 1);
      return turn;
    },
  };
  const certificates = new Certificates(
    options.loadCertificate ?? (() => Promise.reject(new Error('this proxy has no keys'))),
  );
  const sockets = new Set<Socket>();
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    answerRequest(serving, request, response).catch((error) => response.destroy(error));
  };
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    answerUpgrade(serving, request, socket, head).catch(() => socket.destroy());
  };
  const http = createHttpServer(listener);
  const https = createHttpsServer(
    {
      SNICallback(servername, done) {
        contextFor(configs, certificates, servername).then(
          (context) => done(null, context), // none: the handshake ends with an alert
          () => done(null, undefined),
        );
      },
    },
    listener,
  );
  https.on('secureConnection', (socket: TLSSocket) => {
    // A session that is resumed asks for no certificate.
    if (servedOver(configs, socket.servername || '') === undefined) socket.destroy();
  });
  for (const server of [http, https]) {
    server.on('upgrade', onUpgrade).on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  }
  return {
    configs,
    httpPort: (http.address() as AddressInfo).port,
    httpsPort: (https.address() as AddressInfo).port,
    seen: serving.seen,
    purge(domain, target) {
      serving.cache.purge(target, (host) => configs.find(host)?.domain === domain);
      if (target.kind === 'url' && target.refresh === true)
        askItself((http.address() as AddressInfo).port, target);
    },
    pass(seconds) {
      passedMs += seconds * 1_000;
    },
    cacheReporter,
    requestReporter: serving.requestReporter,
    async stop() {
      const closed = [http, https].map((server) => new Promise((done) => server.close(done)));
      for (const socket of sockets) socket.destroy();
      await Promise.all(closed);
    },
  };
}

async function contextFor(
  configs: ConfigStore,
  certificates: Certificates,
  servername: string,
): Promise<SecureContext | undefined> {
  const config = servedOver(configs, servername);
  return config === undefined ? undefined : certificates.contextFor(config, servername.toLowerCase());
}

/** The domain whose handshakes are answered for this name: it has the host and is not suspended. */
function servedOver(configs: ConfigStore, servername: string) {
  const host = hostOf(servername);
  const config = host === undefined ? undefined : configs.find(host);
  if (host === undefined || config === undefined || config.suspended) return undefined;
  return findHost(config, host) === undefined ? undefined : config;
}

/** Asks for a URL as a visitor does, over http, so that it is cached anew. */
function askItself(port: number, { host, path, query }: Extract<PurgeTarget, { kind: 'url' }>): void {
  const where = {
    host: '127.0.0.1',
    port,
    path: query === '' ? path : `${path}?${query}`,
    headers: { host, 'user-agent': REFRESHER },
  };
  get(where, (answer) => answer.resume()).on('error', () => undefined); // the next visitor asks then
}

function allowedOf({ allow = [] }: EdgeProxyOptions): BlockList {
  return listOf(allow);
}

async function resolveBySystem(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}
