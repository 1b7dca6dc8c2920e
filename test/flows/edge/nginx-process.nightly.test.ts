import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { FindOrigins } from '../../../agent/find-origins.mjs';
import { askEdge } from '../../support/edge/ask-edge.ts';
import { madeConfig, madeHost, madeOrigin } from '../../support/edge/made-config.ts';
import { startAgent } from '../../support/edge/nginx/agent-process.ts';
import { hasNginx, stopNginx } from '../../support/edge/nginx/served-nginx.ts';
import { until } from '../../support/tests/until.ts';

const times = (text: string, part: string) => text.split(part).length - 1;

async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

it('origins are deleted once no config names them', async () => {
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

describe.skipIf(!hasNginx)('the agent of an nginx that has died', () => {
  it('restarts it, and sends nothing to the fleet while that fails', async () => {
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
        () => agent.log().includes('nginx responds again'),
        () => `it starts nginx: ${agent.log()}`,
        30_000,
      );
      expect((await askEdge(agent, 'http://none.example/')).status).toBe(421);
      // Another process takes its place.
      await until(async () => {
        await stopNginx(agent.state);
        return await listen(intruder, agent.httpPort).then(
          () => true,
          () => false,
        );
      }, 'another program has the port');
      await until(
        () => times(agent.log(), 'nginx does not respond') > 0,
        'it sees that nginx is gone',
        60_000,
      );
      const before = reports;
      await until(() => times(agent.log(), 'nginx does not respond') > 2, 'it tries again', 60_000);
      expect(reports).toBe(before);
      intruder.close();
      await until(() => times(agent.log(), 'nginx responds again') > 1, 'it starts nginx', 60_000);
      await until(() => reports > before, 'it reports', 30_000);
    } finally {
      intruder.close();
      await agent.stop();
      api.closeAllConnections();
      api.close();
    }
  });
});
