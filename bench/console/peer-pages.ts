// Other projects' pages for the same kind of users, each served on loopback by its own program, as its users have it.

import { mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import { Queue } from 'bullmq';
import fastify from 'fastify';
import { HAS_REDIS, startRedis } from '../../test/support/database/redis.ts';
import { freePort } from '../../test/support/processes/free-port.ts';
import { until } from '../../test/support/tests/until.ts';
import { runProgram } from '../program.ts';
import { versionOf } from '../servers/installed.ts';

const JOBS = 500;

export interface PeerPage {
  readonly url: string;
  readonly path: string;
  /** The content that a user needs. */
  readonly selector: string;
  stop(): Promise<void>;
}

export interface Peer {
  readonly title: string;
  /** Debian's package. */
  readonly needs: string;
  readonly isInstalled: boolean;
  /** @param directory for its files */
  serve(directory: string): Promise<PeerPage>;
}

const bullBoard: Peer = {
  title: 'Bull Board',
  needs: 'redis-server',
  isInstalled: HAS_REDIS,
  async serve() {
    const redis = await startRedis();
    const queue = new Queue('checks', { connection: { url: redis.url } });
    await queue.addBulk(Array.from({ length: JOBS }, (_, i) => ({ name: 'check', data: { domain: i } })));
    const adapter = new FastifyAdapter();
    adapter.setBasePath('/queues');
    createBullBoard({ queues: [new BullMQAdapter(queue)], serverAdapter: adapter });
    const app = fastify();
    app.register(adapter.registerPlugin(), { prefix: '/queues' });
    return {
      url: await app.listen({ port: 0, host: '127.0.0.1' }),
      path: '/queues/queue/checks',
      selector: '[class*=jobLink]',
      async stop() {
        await app.close();
        await queue.close();
        await redis.stop();
      },
    };
  },
};

const NETDATA = versionOf(['netdata', '-V'], /netdata v?(\S+)/);

const netdata: Peer = {
  title: `netdata${NETDATA === undefined ? '' : ` ${NETDATA}`}`,
  needs: 'netdata',
  isInstalled: NETDATA !== undefined,
  async serve(directory) {
    const port = await freePort();
    const user = userInfo().username;
    const place = (name: string) => {
      mkdirSync(join(directory, name), { recursive: true });
      return join(directory, name);
    };
    const file = join(directory, 'netdata.conf');
    const lines = [
      ...['[global]', `run as user = ${user}`],
      ...['[directories]', `cache = ${place('cache')}`, `lib = ${place('lib')}`, `log = ${place('log')}`],
      ...['[db]', 'mode = ram'],
      ...['[web]', 'bind to = 127.0.0.1', `default port = ${port}`],
      ...[`web files owner = ${user}`, `web files group = ${user}`],
      ...['[registry]', 'enabled = no'],
      // The data that it reads from /proc is sufficient.
      '[plugins]',
      ...['apps', 'cgroups', 'charts.d', 'ebpf', 'fping', 'go.d', 'nfacct', 'python.d', 'tc'].map(
        (name) => `${name} = no`,
      ),
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    const program = runProgram(['netdata', '-D', '-c', file], {
      env: { DO_NOT_TRACK: '1', HOME: directory },
      outputFile: join(directory, 'output'),
    });
    const url = `http://127.0.0.1:${port}`;
    await until(async () => (await fetch(url).catch(() => undefined))?.ok === true, 'netdata answers');
    return { url, path: '/', selector: '.netdata-dygraph-chart canvas', stop: program.stop };
  },
};

export const PEERS: readonly Peer[] = [bullBoard, netdata];
