// Debian's redis-server on a free port of loopback, without persistence.

import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { isInstalled } from '../peers/peers.ts';
import { freePort } from '../processes/free-port.ts';
import { programOf } from '../processes/program.ts';
import { until } from '../tests/until.ts';

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
}

export const HAS_REDIS = isInstalled('redis-server');
/** Suffix of a test's name. */
export const NEEDS_REDIS = HAS_REDIS ? '' : ' (skipped: needs redis-server)';

export async function startRedis(wanted?: number): Promise<RedisServer> {
  const port = wanted ?? (await freePort());
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const redis = programOf(spawn('redis-server', args, { stdio: 'ignore', cwd: '/tmp' }));
  await until(() => answers(port), 'redis-server answers');
  return {
    url: `redis://127.0.0.1:${port}/0`,
    port,
    stop: () => redis.stop('SIGKILL'),
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.write('PING\r\n'));
    socket.on('data', (octets) => {
      resolve(octets.toString().startsWith('+PONG'));
      socket.destroy();
    });
  });
}
