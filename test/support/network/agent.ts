// Performs tasks for a test in a network namespace. Started by start-agent.ts.

import { TASKS } from './tasks.ts';

export interface Request {
  readonly id: number;
  readonly task: keyof typeof TASKS;
  readonly args: readonly unknown[];
}

export type Reply = { readonly id: number } & ({ readonly result: unknown } | { readonly error: string });

process.on('message', ({ id, task, args }: Request) => {
  const perform = TASKS[task] as (...args: readonly unknown[]) => Promise<unknown>;
  const reply = (message: Reply) => process.send?.(message);
  perform(...args).then(
    (result) => reply({ id, result }),
    (error: Error) => reply({ id, error: `${error.stack}` }),
  );
});
process.on('disconnect', () => process.exit());
