// Sends all queries once before the measurement, to warm up compilers and caches and to verify the answers.

import { type Load, runDnsperf } from './dnsperf.ts';
import type { BenchOptions } from './part.ts';
import type { RunningServer } from './servers/server.ts';

const MAX_SECONDS = 20;
const EXPECTED = new Set(['NOERROR', 'NXDOMAIN']);
/** Percentage of the answers. */
const LEAST_NOERROR = 80;

export async function warmUp(
  server: RunningServer,
  load: Pick<Load, 'queries' | 'source' | 'edns' | 'transport' | 'clients' | 'outstanding'>,
  options: BenchOptions,
  leastNoError = LEAST_NOERROR,
): Promise<void> {
  const { rcodes } = await runDnsperf({
    ...load,
    address: server.address,
    port: server.port,
    cpu: options.loadCpu,
    seconds: MAX_SECONDS,
    once: true,
  });
  if (server.name === 'echo') return;
  const other = Object.keys(rcodes).filter((rcode) => !EXPECTED.has(rcode));
  if (other.length > 0 || (rcodes.NOERROR ?? 0) < leastNoError) {
    throw new Error(`${server.name} answers ${JSON.stringify(rcodes)}`);
  }
}
