// As much of `/edge/v1` as an agent needs, in this process: tells one config, and keeps what it is told of requests by the id of the batch.
// It breaks off, refuses and forgets to answer, as an API that is killed does.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import type { EdgeConfig } from '../../../../src/edge/edge-config.ts';

export type Trouble = 'none' | 'refused' | 'cut off before it is taken' | 'cut off when it is taken';

export interface StandInApi {
  readonly url: string;
  /** Ids that came again with other octets. */
  readonly changed: readonly string[];
  tell(config: EdgeConfig): void;
  /** What each line says, batches once. */
  lines(): Record<string, unknown>[];
  stop(): Promise<void>;
}

export async function startStandInApi(troubleOf: (call: number) => Trouble): Promise<StandInApi> {
  const batches = new Map<string, Buffer>();
  const changed: string[] = [];
  const streams = new Set<ServerResponse>();
  let version = 0;
  let calls = 0;
  let config: EdgeConfig | undefined;
  const print = (line: object) => `${JSON.stringify(line)}\n`;
  const told = () => (config ? print({ cursor: `${version}`, domain: config.domain, version, config }) : '');
  const heartbeat = setInterval(() => {
    for (const each of streams) each.write('{}\n');
  }, 10_000);

  async function take(request: IncomingMessage, response: ServerResponse) {
    const trouble = troubleOf(calls++);
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (trouble === 'cut off before it is taken') return void request.socket.destroy();
    if (trouble === 'refused') return void response.writeHead(503).end();
    const id = String(request.headers['batch-id']);
    const octets = Buffer.concat(pieces);
    if (batches.get(id)?.equals(octets) === false) changed.push(id);
    batches.set(id, batches.get(id) ?? octets);
    if (trouble === 'cut off when it is taken') return void request.socket.destroy();
    response.end('{"accepted":1,"dropped":{"line":0,"time":0,"host":0}}');
  }

  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://api').pathname;
    if (path === '/edge/v1/requests') void take(request, response).catch(() => undefined);
    else if (path === '/edge/v1/config' || path === '/edge/v1/purges') {
      streams.add(response);
      response.on('close', () => streams.delete(response));
      if (path === '/edge/v1/purges') response.write('{}\n');
      else
        response.write(
          `${print({ cursor: 's', snapshot: 'begin' })}${told()}${print({ cursor: `${version}`, snapshot: 'end' })}`,
        );
    } else request.resume().on('end', () => response.end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    changed,
    tell(next) {
      config = next;
      version++;
      for (const each of streams) if (each.req.url?.startsWith('/edge/v1/config')) each.write(told());
    },
    lines: () =>
      [...batches.values()].flatMap((octets) =>
        gunzipSync(octets)
          .toString()
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Record<string, unknown>),
      ),
    async stop() {
      clearInterval(heartbeat);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
