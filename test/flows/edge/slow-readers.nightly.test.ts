import { once } from 'node:events';
import { request as askHttp, type IncomingMessage } from 'node:http';
import { request as askHttps } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { EdgeFeed } from '../../../src/api/edge/edge-feed.ts';
import { API_LIMITS } from '../../../src/api/http/listen.ts';
import { createBoundedServer } from '../../../src/process/http/bounded-server.ts';
import { type EdgeLine, EdgeLines } from '../../../src/store/edges/read-edge-lines.ts';
import { ownApi } from '../../support/api/api.ts';
import { makeCertificate } from '../../support/certificates/make-certificate.ts';
import { startEdgeApi } from '../../support/edge/edge-api.ts';
import { until } from '../../support/tests/until.ts';

const MIB = 1024 * 1024;
const CONFIG = JSON.stringify({ filler: 'x'.repeat(16 * 1024) });
const PAGE = 100;
/** The system buffers some data even if the other end reads nothing. */
const SYSTEM_BYTES = 24 * MIB;

const api = ownApi(() => startEdgeApi());
afterAll(() => vi.restoreAllMocks());

describe.each(['http', 'https'] as const)('over %s, an edge that reads nothing', (scheme) => {
  it('is disconnected before much of an endless list of domains is generated', async () => {
    let made = 0;
    let number = 0;
    let held = 0;
    let socket: Socket | undefined;
    vi.spyOn(EdgeLines.prototype, 'readNames').mockImplementation(async () => {
      const lines = Array.from({ length: PAGE }, (): EdgeLine => {
        number++;
        return { name: `d${number}.example.`, version: 1, regions: null, config: CONFIG };
      });
      made += PAGE * CONFIG.length;
      held = Math.max(held, socket?.writableLength ?? 0);
      return { lines, last: `d${number}.example.` };
    });
    const join = vi.spyOn(EdgeFeed.prototype, 'join');
    const token = await api.makeEdge(`slow-${scheme}`);
    const { pem: cert, key } = await makeCertificate({ names: ['localhost'] });
    const server = createBoundedServer(
      { ...API_LIMITS, stallMs: 1500 },
      (request, response) => {
        socket = request.socket;
        api.app.routing(request, response);
      },
      scheme === 'https' ? { cert, key } : undefined,
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const ask = scheme === 'https' ? askHttps : askHttp;
    const asking = ask(`${scheme}://localhost:${port}/edge/v1/config`, {
      headers: { authorization: `Bearer ${token}` },
      agent: false,
      ...(scheme === 'https' && { ca: cert }),
    });
    asking.on('error', () => {}).end();
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    const feed = join.mock.contexts[0] as EdgeFeed;
    expect(feed.streams).toBe(1);
    await until(() => feed.streams === 0, 'the edge is cut off', 120_000);
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(SYSTEM_BYTES);
    expect(held).toBeLessThan(MIB);
    expect(socket?.destroyed).toBe(true);
    asking.destroy();
    join.mockRestore();
    await new Promise((done) => server.close(done));
  });
});
