// Starts the two processes of this part: the generated internet on the load's core, and the scanner on the servers' core.

import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BenchOptions } from '../part.ts';
import { type Program, runProgram } from '../program.ts';
import type { CorpusOrder, ScanOrder, ScanReport, ServersOrder, ServersReady } from './orders.ts';

export interface Scanning {
  scan(order: ScanOrder): Promise<ScanReport>;
  /** Returns the queries at the resolver on port 53 since the last call. Throws if any query was invalid. */
  takeAsked(): Promise<number>;
  stop(): Promise<void>;
}

export async function startScanning(order: ServersOrder, options: BenchOptions): Promise<Scanning> {
  const servers = start('scan-servers.ts', order, options.loadCpu);
  const corpusOrder: CorpusOrder = { seed: order.seed, zones: order.zones, hosters: order.hosters };
  const scanner = start('scanning-process.ts', corpusOrder, options.serverCpu);
  const stop = async () => {
    await scanner.program.stop();
    await servers.program.stop();
  };
  try {
    const [ready] = await Promise.all([servers.message<ServersReady>(), scanner.message<string>()]);
    scanner.program.child.send(ready);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    async scan(scanOrder) {
      const report = scanner.message<ScanReport>();
      scanner.program.child.send(scanOrder);
      return report;
    },
    async takeAsked() {
      const told = servers.message<{ asked: number; violations: string[] }>();
      servers.program.child.send('tell');
      const { asked, violations } = await told;
      if (violations.length > 0) throw new Error(`invalid queries: ${violations.slice(0, 5).join('; ')}`);
      return asked;
    },
    stop,
  };
}

function start(
  file: string,
  order: CorpusOrder,
  cpu: number | undefined,
): { program: Program; message: <T>() => Promise<T> } {
  const path = fileURLToPath(new URL(`./${file}`, import.meta.url));
  const command = [process.execPath, '--import', 'tsx', path, JSON.stringify(order)];
  const program = runProgram(command, { cpu, ipc: true });
  const ended = program.ended.then((code) => {
    throw new Error(`${file} ended with ${code}:\n${program.output()}`);
  });
  ended.catch(() => {});
  return {
    program,
    message: async <T>() => (await Promise.race([once(program.child, 'message'), ended]))[0] as T,
  };
}
