// A million small zones: the cost of an answer, the memory of the zones, and the time until they are answered after a
// start. The three parts share their servers. Zonefleet keeps running, and the others run one after the other, because most
// machines cannot hold all of them in memory.

import { checkOut } from '../checkout.ts';
import type { BenchOptions, Part, PartName, Section } from '../part.ts';
import { largestPssBytes, pssBytes } from '../process-tree.ts';
import { interleave, measure } from '../rounds.ts';
import { say } from '../say.ts';
import { DRAW_TITLES, DRAWS, type QueryFiles, writeScaleQueries } from '../scale/scale-queries.ts';
import type { ScaleResults, Weight } from '../scale/scale-results.ts';
import { memorySection, millionSection, startSection } from '../scale/scale-sections.ts';
import { startTimed, timeStarts } from '../scale/start-times.ts';
import { serversNamed, startServers } from '../servers/all.ts';
import type { RunningServer, Server, StartOptions } from '../servers/server.ts';
import { zonefleet } from '../servers/zonefleet.ts';
import { warmUp } from '../warm-up.ts';
import { makeRecipeZones } from '../zones/recipe-zones.ts';
import type { ZoneSet } from '../zones/zone-set.ts';

const ZONES = 1_000_000;
const SMALL_ZONES = 1000;
const RESTARTS = 3;
const SMALL_RESTARTS = 5;

export const scale: Part = {
  names: ['million', 'memory', 'start'],
  async run(options, wanted) {
    const set = makeRecipeZones(options.zones ?? ZONES);
    const peers = options.serversAreChosen
      ? options.servers.filter((server) => !server.isEcho && server.name !== 'zonefleet')
      : serversNamed(options.servers, 'nsd', 'knot');
    const startOptions = (zones: ZoneSet) => ({
      set: zones,
      cpu: options.serverCpu,
      address: '127.0.0.1',
      limitsRates: false,
      timeoutMs: 30_000 + zones.records / 10,
    });
    const smallSet = makeRecipeZones(SMALL_ZONES);
    const timesStarts = wanted.has('start');
    const before = timesStarts
      ? await timeCommit(options.old, startOptions(set), startOptions(smallSet))
      : undefined;
    const small = timesStarts
      ? { zones: SMALL_ZONES, times: await timeStarts(startOptions(smallSet), SMALL_RESTARTS) }
      : undefined;
    const { node, times } = await startTimed(startOptions(set), timesStarts ? RESTARTS : 0);
    const results: ScaleResults = {
      set,
      drawn: [],
      weights: [],
      times,
      small,
      before,
      peerStartMs: new Map(),
    };
    try {
      const files = writeScaleQueries(set.recipe?.count ?? 0, options);
      await warmUp(node, { queries: files('zipf', 0) }, options);
      results.weights.push({
        ...weigh(zonefleet, node),
        imageBytes: await node.metric('zonefleet_image_bytes'),
      });
      if (wanted.has('million') && peers.length === 0) {
        await runDraws([{ server: zonefleet, running: node }], files, results, options);
      }
      for (const peer of peers) await measurePeer(peer, node, files, results, wanted, options);
    } finally {
      await node.stop();
    }
    const sections: Section[] = [];
    if (wanted.has('million')) sections.push(millionSection(results));
    if (wanted.has('memory')) sections.push(memorySection(results));
    if (timesStarts) sections.push(startSection(results));
    return sections;
  },
};

/** Measures another commit with the same databases. Its schema may be older, as during an upgrade. */
async function timeCommit(
  commit: string,
  options: StartOptions,
  small: StartOptions,
): Promise<ScaleResults['before']> {
  const { id, directory: root } = await checkOut(commit);
  say(`starts of ${id}`);
  return {
    commit: id,
    small: await timeStarts({ ...small, root }, SMALL_RESTARTS),
    times: await timeStarts({ ...options, root }, RESTARTS),
  };
}

async function measurePeer(
  peer: Server,
  node: RunningServer,
  files: QueryFiles,
  results: ScaleResults,
  wanted: ReadonlySet<PartName>,
  options: BenchOptions,
): Promise<void> {
  const [started] = await startServers([peer], results.set, options);
  if (started === undefined) return;
  const { running } = started;
  try {
    results.peerStartMs.set(peer, running.firstAnswerMs);
    await warmUp(running, { queries: files('zipf', 0) }, options);
    results.weights.push({ ...weigh(peer, running), imageBytes: undefined });
    if (wanted.has('million')) {
      const both = [
        { server: zonefleet, running: node },
        { server: peer, running },
      ];
      await runDraws(both, files, results, options, peer);
    }
  } finally {
    await running.stop();
  }
}

function weigh(server: Server, { program }: RunningServer): Omit<Weight, 'imageBytes'> {
  const bytes = pssBytes(program.pid);
  say(`${server.title} takes ${(bytes / 2 ** 20).toFixed(0)} MiB`);
  return { server, pssBytes: bytes, largestBytes: largestPssBytes(program.pid) };
}

async function runDraws(
  servers: readonly { server: Server; running: RunningServer }[],
  files: QueryFiles,
  results: ScaleResults,
  options: BenchOptions,
  beside?: Server,
): Promise<void> {
  const contestants = DRAWS.flatMap((draw) =>
    servers.map(({ server, running }) => ({
      server,
      running,
      draw,
      label: `${server.title}, ${DRAW_TITLES[draw]}`,
    })),
  );
  const runs = await interleave(contestants, options, ({ running, draw }, round) =>
    measure(running, { queries: files(draw, round), seconds: options.seconds }, options),
  );
  for (const [{ server, draw }, list] of runs) results.drawn.push({ server, draw, runs: list, beside });
}
