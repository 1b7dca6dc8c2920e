// Starts a process in a network namespace that sends and receives packets for a test.

import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Reply, Request } from './agent.ts';
import type { NetworkNamespace } from './namespace.ts';
import type { TASKS } from './tasks.ts';

type Tasks = typeof TASKS;

export interface Agent {
  do<K extends keyof Tasks>(task: K, ...args: Parameters<Tasks[K]>): Promise<Awaited<ReturnType<Tasks[K]>>>;
  stop(): void;
}

const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

export function startAgent(namespace: NetworkNamespace): Agent {
  const file = fileURLToPath(new URL('./agent.ts', import.meta.url));
  const child = namespace.spawn([process.execPath, '--import', TSX, file], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  const waiting = new Map<number, { done: (value: never) => void; fail: (error: Error) => void }>();
  child.on('message', (reply: Reply) => {
    const { done, fail } = waiting.get(reply.id) ?? {};
    waiting.delete(reply.id);
    if ('error' in reply) fail?.(new Error(reply.error));
    else done?.(reply.result as never);
  });
  child.on('exit', (code, signal) => {
    for (const { fail } of waiting.values()) fail(new Error(`an agent ended with ${code ?? signal}`));
  });
  let lastId = 0;
  return {
    do(task, ...args) {
      const id = ++lastId;
      child.send({ id, task, args } satisfies Request);
      return new Promise((done, fail) => waiting.set(id, { done, fail }));
    },
    stop: () => void child.kill('SIGKILL'),
  };
}
