// The nginx of docs/edge-agent as a process: who is taken for it, who starts it again, who hears that it is gone; and domains
// with more hosts than anybody has servers for.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FindOrigins } from '../../../docs/edge-agent/find-origins.mjs';
import { askEdge } from '../../support/edge/ask-edge.ts';
import { madeConfig, madeHost, madeOrigin } from '../../support/edge/made-config.ts';
import { startAgent } from '../../support/edge/nginx/agent-process.ts';
import { hasNginx, type ServedNginx, serveNginx, stopNginx } from '../../support/edge/nginx/served-nginx.ts';
import { startOrigin, type TestOrigin } from '../../support/edge/origin/test-origin.ts';
import { until } from '../../support/tests/until.ts';

const times = (text: string, part: string) => text.split(part).length - 1;

async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe('origins', () => {
  it('are forgotten when no config names them any more', async () => {
    const origins = new FindOrigins({ resolvers: [], allowOrigins: ['127.0.0.0/8'], denyOrigins: [] });
    const at = (port: number) =>
      madeConfig('shop.example', {
        hosts: [madeHost('www.shop.example', madeOrigin({ destination: '127.0.0.1', port, scheme: 'auto' }))],
      });
    for (const port of [1, 2, 3]) await origins.look([at(port)], false);
    expect(origins.size).toBe(3);
    origins.keepOnly([at(2)]);
    expect(origins.size).toBe(1);
    expect(origins.speaksTls('127.0.0.1', 2)).toBe(false);
  });
});

describe.skipIf(!hasNginx)('nginx', () => {
  let origin: TestOrigin;
  let other: TestOrigin;
  let nginx: ServedNginx;

  beforeAll(async () => {
    origin = await startOrigin('main', '127.0.0.1');
    other = await startOrigin('other', '127.0.0.1');
    nginx = await serveNginx();
  });
  afterAll(async () => {
    await nginx?.stop();
    await origin?.stop();
    await other?.stop();
  });

  const place = (port: number, destination = '127.0.0.1') => madeOrigin({ destination, port });
  const few = (...more: readonly ReturnType<typeof madeHost>[]) =>
    madeConfig('shop.example', {
      hosts: [
        madeHost('a.shop.example', place(origin.port)),
        madeHost('b.shop.example', place(other.port)),
        madeHost('c.shop.example', place(origin.port), place(other.port)),
        ...more,
      ],
    });
  const nameAt = async (host: string) => (await askEdge(nginx, `http://${host}.shop.example/`)).json.name;

  it('sends each of many hosts to its own origins', async () => {
    const more = Array.from({ length: 10_000 }, (_, i) =>
      madeHost(
        `h${i}.shop.example`,
        place(i % 2 === 0 ? origin.port : other.port),
        place(1, `127.1.${i >> 8}.${i & 255}`),
      ),
    );
    const plain = Array.from({ length: 10_000 }, (_, i) =>
      madeHost(`p${i}.shop.example`, place(i === 9_999 ? other.port : 1 + i)),
    );
    await nginx.take(few());
    expect([await nameAt('a'), await nameAt('b')]).toEqual(['main', 'other']);
    expect([...(await nginx.take(few(...plain))).refused]).toEqual([]);
    expect([await nameAt('a'), await nameAt('b'), await nameAt('p9999')]).toEqual(['main', 'other', 'other']);
    expect(['main', 'other']).toContain(await nameAt('c'));
    expect([...(await nginx.take(few(...more.slice(0, 200)))).refused]).toEqual([]);
    expect([await nameAt('a'), await nameAt('b')]).toEqual(['main', 'other']);
    expect(['main', 'other']).toContain(await nameAt('h199'));
    expect((await askEdge(nginx, 'http://p1.shop.example/')).status).toBe(421);
  });

  it('goes on with what it had when a domain has too many hosts, and says so of the domain', async () => {
    await nginx.take(few());
    const more = Array.from({ length: 2_001 }, (_, i) => madeHost(`*.h${i}.shop.example`, place(1 + i)));
    expect([...(await nginx.take(few(...more))).refused.keys()]).toEqual(['shop.example']);
    expect(nginx.edge.refused()).toEqual([
      { domain: 'shop.example', why: expect.stringContaining('more than 2000 hosts') },
    ]);
    expect([await nameAt('a'), await nameAt('b')]).toEqual(['main', 'other']);
    await nginx.take(few(...more.slice(0, 1)));
    expect(nginx.edge.refused()).toEqual([]);
  });

  it('is not taken for a process that has got its number', async () => {
    await nginx.take(few());
    const stranger = spawn('sleep', ['600']);
    try {
      await stopNginx(nginx.state);
      writeFileSync(join(nginx.state, 'nginx.pid'), `${stranger.pid}\n`);
      expect(nginx.edge.nginx.master()).toBeUndefined();
      await nginx.edge.start();
      expect(await nameAt('a')).toBe('main');
      expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
      expect(Number(readFileSync(join(nginx.state, 'nginx.pid'), 'utf8'))).toBe(nginx.edge.nginx.master());
    } finally {
      stranger.kill('SIGKILL');
    }
  });
});

describe.skipIf(!hasNginx)('the agent of an nginx that has died', () => {
  it('starts it again, and is silent towards the fleet while it cannot', async () => {
    let reports = 0;
    const api = createServer((request, response) => {
      if (request.url === '/edge/v1/health') {
        reports++;
        request.resume().on('end', () => response.end('{}'));
      } else response.write('{"cursor":"c1"}\n');
    });
    const port = await listen(api);
    const agent = await startAgent({ api: `http://127.0.0.1:${port}`, token: 'edge_x', allowOrigins: [] });
    const intruder = createServer((_, response) => response.end());
    try {
      await until(() => reports > 0, 'it has reported');
      await stopNginx(agent.state);
      await until(
        () => agent.log().includes('it does again'),
        () => `it starts nginx: ${agent.log()}`,
        30_000,
      );
      expect((await askEdge(agent, 'http://none.example/')).status).toBe(421);
      // Somebody else takes its place.
      await until(async () => {
        await stopNginx(agent.state);
        return await listen(intruder, agent.httpPort).then(
          () => true,
          () => false,
        );
      }, 'another program has the port');
      await until(
        () => times(agent.log(), 'nginx does not answer') > 0,
        'it sees that nginx is gone',
        60_000,
      );
      const before = reports;
      await until(() => times(agent.log(), 'nginx does not answer') > 2, 'it tries again', 60_000);
      expect(reports).toBe(before);
      intruder.close();
      await until(() => times(agent.log(), 'it does again') > 1, 'it starts nginx', 60_000);
      await until(() => reports > before, 'it reports', 30_000);
    } finally {
      intruder.close();
      await agent.stop();
      api.closeAllConnections();
      api.close();
    }
  });
});
