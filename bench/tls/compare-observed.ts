// Compares nodes that answer the same zone: without TLS and observation, with everything that listens but is idle, and with
// dnstap and the query log.

import { join } from 'node:path';
import type { BenchOptions } from '../part.ts';
import { zonefleetDatabase } from '../postgres/zonefleet-database.ts';
import { runProgram } from '../program.ts';
import { fixed, judged, table } from '../report/table.ts';
import { interleave, measure, mediansOf } from '../rounds.ts';
import { say } from '../say.ts';
import { type RunningZonefleet, startZonefleet } from '../servers/zonefleet.ts';
import { median } from '../statistics.ts';
import { warmUp } from '../warm-up.ts';
import type { OneZone } from '../zones/one-zone.ts';
import { makeCertificate } from './certificate.ts';
import { createCatalog, removeCatalog } from './create-catalog.ts';

/** Relative to the node without TLS and observation. */
const IDLE_LIMIT = 1.01;
const OBSERVED_UDP_LIMIT = 1.02;
/** Minimum number of rounds: the differences are smaller than disturbances of the machine. */
const LEAST_ROUNDS = 9;
const CONNECTIONS = 10;

export async function compareObserved(
  zone: OneZone,
  queries: string,
  options: BenchOptions,
): Promise<string> {
  const rounds = Math.max(options.rounds, LEAST_ROUNDS);
  const socket = join(options.directory, 'dnstap.sock');
  const reader = runProgram(
    ['fstrm_capture', '-t', 'protobuf:dnstap.Dnstap', '-u', socket, '-w', '/dev/null'],
    { cpu: options.loadCpu },
  );
  const observing = {
    DNSTAP: `unix:${socket}`,
    DNSTAP_SAMPLE: '1/100',
    QUERY_LOG: join(options.directory, 'queries.json'),
  };
  const files = await makeCertificate(options.directory);
  const nodes = [
    { label: 'off', limit: undefined, more: {} },
    { label: 'TLS, HTTPS and a catalog, idle', limit: IDLE_LIMIT, more: { tls: files } },
    {
      label: 'the same, dnstap 1/100 and query log',
      limit: OBSERVED_UDP_LIMIT,
      more: { tls: files, environment: observing },
    },
  ] as const;
  const contestants: { label: string; limit: number | undefined; running: RunningZonefleet }[] = [];
  try {
    for (const [i, { label, limit, more }] of nodes.entries()) {
      const set = { ...zone.set, name: `${zone.set.name}_observed${i}` };
      const databaseUrl = await zonefleetDatabase(set);
      await removeCatalog(databaseUrl);
      if ('tls' in more) await createCatalog(databaseUrl);
      const running = await startZonefleet({
        set,
        databaseUrl,
        cpu: options.serverCpu,
        address: '127.0.0.1',
        limitsRates: false,
        timeoutMs: 60_000,
        ...more,
      });
      contestants.push({ label, limit, running });
    }
    const blocks = ['### Idle listeners and observation'];
    const rows = [];
    for (const transport of ['udp', 'tcp'] as const) {
      say(`tls: observed over ${transport}`);
      const load = {
        queries,
        transport,
        edns: { kind: 'edns' },
        ...(transport === 'tcp' && { clients: CONNECTIONS }),
      } as const;
      for (const { running } of contestants) await warmUp(running, load, options);
      const runs = await interleave(contestants, { ...options, rounds }, ({ running }) =>
        measure(running, { ...load, seconds: options.seconds }, options),
      );
      const basis = [...runs.values()][0] ?? [];
      for (const [{ label, limit }, list] of runs) {
        const ratios = list.map((run, round) => run.cpuMicros / (basis[round]?.cpuMicros ?? Number.NaN));
        const cell =
          label === 'off'
            ? ''
            : judged(median(ratios), transport === 'udp' || limit === IDLE_LIMIT ? limit : undefined);
        rows.push([`${transport.toUpperCase()}, ${label}`, fixed(mediansOf(list).cpuMicros, 2), cell]);
      }
    }
    blocks.push(
      'Each round measures every node. The ratio is the median over all rounds.',
      table(['', 'CPU µs per query', '÷ off'], rows),
    );
    return blocks.join('\n\n');
  } finally {
    for (const { running } of contestants) await running.stop();
    await reader.stop();
  }
}
