// The workers as an operator runs them, in a separate process.

import { openRole } from '../database/database.ts';
import { freePort } from './free-port.ts';
import { type Program, startProgram, untilReady } from './program.ts';

export type WorkersProcess = Program;

export async function startWorkers(
  databaseUrl: string,
  env: Readonly<Record<string, string>>,
): Promise<WorkersProcess> {
  const program = startProgram(
    '../../../workers/main.ts',
    {
      DATABASE_URL: await openRole(databaseUrl, 'zonefleet_worker'),
      METRICS_LISTEN: `127.0.0.1:${await freePort()}`,
      ...env,
    },
    { hasChannel: true },
  );
  let isReady = false;
  program.child.on('message', (message: { kind: string }) => {
    if (message.kind === 'ready') isReady = true;
  });
  await untilReady(program, 'workers', () => isReady);
  return program;
}
