// DNS over TLS and HTTPS next to BIND, NSD and dnsdist; the cost of listening for them and of observing queries; and a large
// catalog zone.

import type { BenchOptions, Part } from '../part.ts';
import type { Chart } from '../report/chart.ts';
import { comparisonTable, cpuBars, type Limits } from '../report/comparison.ts';
import { atLeast, count, fixed, table } from '../report/table.ts';
import { interleave, measure, mediansOf, type Run } from '../rounds.ts';
import { say } from '../say.ts';
import { type Contestant, serversNamed, startServers, stopServers } from '../servers/all.ts';
import { dnsdist } from '../servers/dnsdist.ts';
import { makeCertificate } from '../tls/certificate.ts';
import { compareObserved } from '../tls/compare-observed.ts';
import { measureCatalog } from '../tls/measure-catalog.ts';
import { measureHandshakes } from '../tls/measure-handshakes.ts';
import { measureRequests, type RequestLoad, writeUrls } from '../tls/measure-requests.ts';
import { warmUp } from '../warm-up.ts';
import { makeOneZone } from '../zones/one-zone.ts';
import { writeQueries } from '../zones/query-file.ts';

const NAMES = 10_000;
const CONNECTIONS = 10;
const STREAMS = 10;
const REQUESTS = 10_000;
const DOT_LIMITS: Limits = { bind: 0.6 };
const DOH_LIMITS: Limits = { bind: 1.5 };
const LEAST_HANDSHAKES = 0.7;
/** Compilers need some thousand handshakes. */
const WARMING_SECONDS = 5;

export const tls: Part = {
  names: ['tls'],
  async run(options) {
    const zone = makeOneZone('names', NAMES);
    const queries = writeQueries(options.directory, 'tls', zone.questions(100_000, 3));
    const contestants = await startAll(zone.set, options);
    const blocks = [
      `The zone and queries of the first part with EDNS, over ${CONNECTIONS} connections that stay open. ` +
        `dnsdist ${dnsdist.version() ?? '(not installed)'} forwards to Zonefleet over TCP. Certificates have ECDSA keys (P-256).`,
    ];
    const charts: Chart[] = [];
    try {
      const queried = await compareQueries(contestants, queries, options);
      blocks.push('### DNS over TLS', comparisonTable(queried, DOT_LIMITS));
      const requested = await compareRequests(contestants, zone.questions(REQUESTS, 4), options);
      blocks.push(
        '### DNS over HTTPS',
        `GET over HTTP/2, ${STREAMS} concurrent requests on each connection.`,
        comparisonTable(requested, DOH_LIMITS),
      );
      for (const [name, title, runs] of [
        ['tls-dot', 'CPU per query over TLS', queried],
        ['tls-doh', 'CPU per query over HTTPS', requested],
      ] as const)
        charts.push({ name, title, unit: 'µs', digits: 1, bars: cpuBars(runs) });
      blocks.push(await compareHandshakes(contestants, options));
    } finally {
      await stopServers(contestants);
    }
    if (options.servers.some(({ name }) => name === 'zonefleet'))
      blocks.push(await compareObserved(zone, queries, options), await measureCatalog(options));
    return [{ part: 'tls', title: 'TLS, HTTPS, observed queries and catalogs', blocks, charts }];
  },
};

async function startAll(
  set: Parameters<typeof startServers>[1],
  options: BenchOptions,
): Promise<Contestant[]> {
  const files = await makeCertificate(options.directory);
  const servers = serversNamed(options.servers, 'zonefleet', 'nsd', 'bind');
  const contestants = await startServers(servers, set, options, { tls: files });
  const backend = contestants.find(({ server }) => server.name === 'zonefleet') ?? contestants[0];
  if (dnsdist.version() === undefined || backend === undefined) {
    say('dnsdist is not installed: skipped');
    return contestants;
  }
  const running = await dnsdist.start(backend.running, {
    set,
    cpu: options.serverCpu,
    address: backend.running.address,
    limitsRates: false,
    timeoutMs: 30_000,
    tls: files,
  });
  return [...contestants, { server: dnsdist, running, label: dnsdist.title }];
}

/** The servers on their ports for the transport. NSD and dnsdist are measured only over TLS. */
function onPort(contestants: readonly Contestant[], transport: 'dot' | 'doh'): Contestant[] {
  return contestants
    .filter(({ server }) => transport === 'dot' || server.name === 'zonefleet' || server.name === 'bind')
    .map((contestant) => {
      const { running } = contestant;
      return { ...contestant, running: { ...running, port: running.encrypted?.[transport] ?? 0 } };
    });
}

async function compareQueries(
  contestants: readonly Contestant[],
  queries: string,
  options: BenchOptions,
): Promise<Map<Contestant, Run[]>> {
  say('tls: queries over TLS');
  const load = { queries, transport: 'dot', clients: CONNECTIONS, edns: { kind: 'edns' } } as const;
  const measured = onPort(contestants, 'dot');
  for (const { running } of measured) await warmUp(running, load, options);
  return await interleave(measured, options, ({ running }) =>
    measure(running, { ...load, seconds: options.seconds }, options),
  );
}

async function compareRequests(
  contestants: readonly Contestant[],
  lines: string,
  options: BenchOptions,
): Promise<Map<Contestant, Run[]>> {
  say('tls: requests over HTTPS');
  const loads = new Map<Contestant, RequestLoad>();
  for (const contestant of onPort(contestants, 'doh')) {
    const urls = writeUrls(contestant.running, lines, options.directory);
    const load = { urls, connections: CONNECTIONS, streams: STREAMS };
    loads.set(contestant, load);
    await measureRequests(contestant.running, load, options); // warms up
  }
  return await interleave([...loads.keys()], options, (contestant) =>
    measureRequests(contestant.running, loads.get(contestant) as RequestLoad, options),
  );
}

async function compareHandshakes(contestants: readonly Contestant[], options: BenchOptions): Promise<string> {
  say('tls: handshakes');
  const measured = onPort(contestants, 'dot');
  const warming = { ...options, seconds: WARMING_SECONDS };
  for (const { running } of measured) await measureHandshakes(running, warming);
  const runs = await interleave(measured, options, ({ running }) => measureHandshakes(running, options));
  const medians = [...runs].map(([{ server }, list]) => ({ server, figures: mediansOf(list) }));
  const ours = medians.find(({ server }) => server.name === 'zonefleet')?.figures;
  const rows = medians.map(({ server, figures }) => {
    const isOurs = server.name === 'zonefleet';
    const ratio = figures.cpuMicros / (ours?.cpuMicros ?? Number.NaN);
    return [
      isOurs ? `**${server.title}**` : server.title,
      fixed(figures.cpuMicros, 0),
      count(1e6 / figures.cpuMicros),
      count(figures.queriesPerSecond),
      isOurs ? '' : server.name === 'nsd' ? atLeast(ratio, LEAST_HANDSHAKES) : fixed(ratio, 2),
    ];
  });
  const head = ['', 'CPU µs each', 'per second of CPU', 'per second', 'Zonefleet ÷ this'];
  return [
    '### Handshakes',
    'New connections without resumption. One core of clients does not use a whole core of a server, so the ratio is that of ' +
      'handshakes per second of processor time.',
    table(head, rows),
  ].join('\n\n');
}
