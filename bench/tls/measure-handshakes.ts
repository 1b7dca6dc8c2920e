// Measures full TLS handshakes: each connection is new, is not resumed, and closes after the handshake.

import type { BenchOptions } from '../part.ts';
import { cpuSeconds } from '../process-tree.ts';
import { runToEnd } from '../program.ts';
import type { Run } from '../rounds.ts';
import type { RunningServer } from '../servers/server.ts';

/** Processes of the client. Each opens one connection after the other. */
const CLIENTS = 4;
const GRACE_MS = 15_000;

/** The processor time is that of one handshake. */
export async function measureHandshakes(server: RunningServer, options: BenchOptions): Promise<Run> {
  const { seconds } = options;
  const target = `${server.address}:${server.port}`;
  const command = ['openssl', 's_time', '-new', '-connect', target, '-time', String(seconds)];
  const before = cpuSeconds(server.program.pid);
  const outputs = await Promise.all(
    Array.from({ length: CLIENTS }, () =>
      runToEnd(command, { cpu: options.loadCpu, timeoutMs: seconds * 1000 + GRACE_MS }),
    ),
  );
  const used = cpuSeconds(server.program.pid) - before;
  const completed = outputs.reduce((sum, output) => sum + connectionsIn(output), 0);
  return {
    sent: completed,
    completed,
    lost: 0,
    seconds,
    queriesPerSecond: completed / seconds,
    rcodes: {},
    answerOctets: Number.NaN,
    cpuMicros: (used * 1e6) / completed,
  };
}

function connectionsIn(output: string): number {
  const found = /(\d+) connections in \d+ real seconds/.exec(output)?.[1];
  if (found === undefined) throw new Error(`openssl s_time printed no connections:\n${output.slice(-1500)}`);
  return Number(found);
}
