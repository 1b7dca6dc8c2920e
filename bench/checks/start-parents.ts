// Starts the servers of the small internet on the load's core.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/processes/free-port.ts';
import type { BenchOptions } from '../part.ts';
import { runProgram } from '../program.ts';
import { PARENT_DELAY_MS, rootHints } from './parents.ts';

const PROGRAM = fileURLToPath(new URL('./parent-server.ts', import.meta.url));

export interface Parents {
  readonly port: number;
  /** For ROOT_HINTS. */
  readonly hintsFile: string;
  readonly pid: number;
  /** Number of packets that each silent address received. */
  packets(): Promise<number[]>;
  stop(): Promise<void>;
}

export async function startParents(options: BenchOptions): Promise<Parents> {
  const port = await freePort();
  const program = runProgram(
    [process.execPath, '--import', 'tsx', PROGRAM, String(port), String(PARENT_DELAY_MS)],
    { cpu: options.loadCpu, ipc: true },
  );
  const ended = program.ended.then((code) => {
    throw new Error(`the parents' servers ended with ${code}:\n${program.output()}`);
  });
  await Promise.race([once(program.child, 'message'), ended]);
  ended.catch(() => {});
  const hintsFile = join(options.directory, 'root-hints');
  writeFileSync(hintsFile, rootHints());
  async function packets(): Promise<number[]> {
    const told = once(program.child, 'message');
    program.child.send('packets');
    return (await told)[0] as number[];
  }
  return { port, hintsFile, pid: program.pid, packets, stop: program.stop };
}
