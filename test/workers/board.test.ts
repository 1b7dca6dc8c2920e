import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { JobQueue } from '../../src/queue/job-queue.ts';
import { backgroundChecks, CHECK_DELEGATION, type CheckJob } from '../../src/queue/jobs.ts';
import { type Board, listenBoard } from '../../workers/board.ts';
import { BACKENDS, createQueuePlace, type TestQueuePlace } from '../support/database/queue-places.ts';
import { HAS_REDIS, NEEDS_REDIS } from '../support/database/redis.ts';

for (const backend of BACKENDS) {
  const isMissing = backend === 'Redis' && !HAS_REDIS;
  describe.skipIf(isMissing)(`the board of a queue on ${backend}${isMissing ? NEEDS_REDIS : ''}`, () => {
    let place: TestQueuePlace;
    let queue: JobQueue<CheckJob>;
    let board: Board;
    beforeAll(async () => {
      place = await createQueuePlace(backend);
      queue = new JobQueue(place, CHECK_DELEGATION);
      board = await listenBoard({ address: '127.0.0.1', port: 0 }, [queue]);
    });
    afterEach(() => queue.queue.obliterate({ force: true }));
    afterAll(async () => {
      await board?.close();
      await queue?.close();
      await place?.drop();
    });

    const ask = (path: string, method = 'GET', host = 'localhost:9170') =>
      new Promise<{ status: number; policy: unknown; body: string }>((resolve, reject) => {
        const { address, port } = board.address;
        const asking = request({ host: address, port, path, method, headers: { host } }, (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (text: string) => (body += text));
          response.on('end', () => {
            const policy = response.headers['content-security-policy'];
            resolve({ status: response.statusCode as number, policy, body });
          });
        });
        asking.on('error', reject);
        asking.end();
      });

    it('shows a page, the queue and what waits in it', async () => {
      await queue.enqueue(backgroundChecks([4711]));
      expect(await ask('/')).toMatchObject({ status: 200, body: expect.stringContaining('Zonefleet') });
      const { status, body } = await ask('/api/queues?activeQueue=check-delegation&status=prioritized');
      expect(status).toBe(200);
      const [shown] = JSON.parse(body).queues;
      expect(shown).toMatchObject({ name: 'check-delegation', readOnlyMode: true });
      expect(shown.counts.prioritized).toBe(1);
      expect(body).toContain('4711');
    });

    it('has the browser fetch nothing from elsewhere', async () => {
      expect((await ask('/')).policy).toBe("default-src 'self' 'unsafe-inline' data:");
    });

    it('changes nothing', async () => {
      await queue.enqueue(backgroundChecks([1]));
      const [job] = await queue.queue.getJobs(['prioritized']);
      for (const [method, path] of [
        ['PUT', `/api/queues/check-delegation/${job?.id}/clean`],
        ['PUT', '/api/queues/check-delegation/empty'],
        ['PUT', '/api/queues/check-delegation/obliterate'],
        ['PUT', '/api/queues/check-delegation/pause'],
        ['POST', '/api/queues/check-delegation/add'],
      ] as const) {
        const { status } = await ask(path, method);
        expect([path, status >= 400 && status < 500]).toEqual([path, true]);
      }
      expect((await queue.depth()).waiting).toBe(1);
      expect(await queue.queue.isPaused()).toBe(false);
    });

    it('refuses requests for another host name', async () => {
      expect((await ask('/', 'GET', 'rebound.example:9170')).status).toBe(403);
      expect((await ask('/api/queues', 'GET', 'rebound.example')).status).toBe(403);
      expect((await ask('/', 'GET', '127.0.0.1:9170')).status).toBe(200);
      expect((await ask('/', 'GET', '[::1]:9170')).status).toBe(200);
    });
  });
}
