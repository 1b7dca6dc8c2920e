// How long the calls of one account take at worst while something else goes on: one every 20 ms, from a process of its own, so
// that nothing the scenario does is measured with it.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Account, Stage } from './stage.ts';

const PERIOD_MS = 20;

export interface Watched {
  /** Of a call that still waits at the end: how long it has. */
  readonly worstMs: number;
  readonly calls: number;
}

export async function watchCalls(
  stage: Stage,
  { key, domain }: Account,
): Promise<{ stop(): Promise<Watched> }> {
  const tsx = fileURLToPath(import.meta.resolve('tsx'));
  const url = `${stage.apiUrl}/domains/${domain}`;
  const child = fork(fileURLToPath(import.meta.url), [url, key], { execArgv: ['--import', tsx] });
  await once(child, 'message'); // the first call has been answered
  return {
    async stop() {
      child.send('stop');
      const [watched] = (await once(child, 'message')) as [Watched];
      await once(child, 'exit');
      return watched;
    },
  };
}

function watch(url: string, key: string): void {
  const agent = new Agent({ keepAlive: true });
  const open = new Set<number>();
  let [calls, worstMs] = [0, 0];
  const ask = (done: () => void) => {
    const startedMs = performance.now();
    open.add(startedMs);
    get(url, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
      response.resume().on('end', () => {
        open.delete(startedMs);
        calls++;
        worstMs = Math.max(worstMs, performance.now() - startedMs);
        done();
      });
    }).on('error', () => {
      // counts as waiting to the end
    });
  };
  ask(() => {
    [calls, worstMs] = [0, 0];
    process.send?.('began');
    const timer = setInterval(() => ask(() => {}), PERIOD_MS);
    process.once('message', () => {
      clearInterval(timer);
      const waitingMs = Math.max(0, ...[...open].map((startedMs) => performance.now() - startedMs));
      process.send?.({ worstMs: Math.max(worstMs, waitingMs), calls } satisfies Watched);
      process.disconnect();
      agent.destroy();
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) watch(process.argv[2] ?? '', process.argv[3] ?? '');
