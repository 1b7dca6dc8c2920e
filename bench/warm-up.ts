// A pass through all questions before anything is measured: compilers and caches have seen them, and the answers are
// what they should be.

import { runDnsperf } from './dnsperf.ts';
import type { BenchOptions } from './part.ts';
import type { RunningServer } from './servers/server.ts';

const MAX_SECONDS = 20;
const EXPECTED = new Set(['NOERROR', 'NXDOMAIN']);

export async function warmUp(
  server: RunningServer,
  queries: string,
  options: BenchOptions,
  source?: string,
): Promise<void> {
  const { rcodes } = await runDnsperf({
    address: server.address,
    port: server.port,
    cpu: options.loadCpu,
    queries,
    seconds: MAX_SECONDS,
    once: true,
    ...(source === undefined ? {} : { source }),
  });
  if (server.name === 'echo') return;
  const other = Object.keys(rcodes).filter((rcode) => !EXPECTED.has(rcode));
  if (other.length > 0 || (rcodes.NOERROR ?? 0) < 80) {
    throw new Error(`${server.name} answers ${JSON.stringify(rcodes)}`);
  }
}
