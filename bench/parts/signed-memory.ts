// Many small signed zones: their memory, compared with NSD, Knot and the same zones without signatures, and the time until
// a node answers for them after a start.

import type { BenchOptions, Part, Section } from '../part.ts';
import { largestPssBytes, pssBytes } from '../process-tree.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import { say } from '../say.ts';
import { writeScaleQueries } from '../scale/scale-queries.ts';
import { type StartTimes, startTimed } from '../scale/start-times.ts';
import { serversNamed, startServers } from '../servers/all.ts';
import { startZonefleet } from '../servers/zonefleet.ts';
import { median } from '../statistics.ts';
import { warmUp } from '../warm-up.ts';
import { makeRecipeZones } from '../zones/recipe-zones.ts';
import { makeSignedRecipe, type SignedRecipe } from '../zones/signed-recipe.ts';
import type { ZoneSet } from '../zones/zone-set.ts';

const ZONES = 1_000_000;
const RESTARTS = 3;
const KILOBYTE = 1000;
/** Of a zone of 12 records, in the image; of all processes, as parts of NSD's largest and of all of NSD's. */
const LIMITS = { zone: 3.8, ofLargest: 0.6, ofAll: 0.35 };
/** Of a million zones. */
const START_LIMIT_SECONDS = 12;

interface Weight {
  readonly title: string;
  readonly bytes: number;
  readonly largestBytes: number;
  readonly imageBytes?: number | undefined;
}

export const signedMemory: Part = {
  names: ['signed_memory'],
  async run(options) {
    const zones = options.zones ?? ZONES;
    const recipe = await makeSignedRecipe(zones);
    const unsigned = await weighUnsigned(makeRecipeZones(zones), options);
    const { ours, times } = await weighSigned(recipe, options);
    const peers: Weight[] = [];
    for (const peer of serversNamed(options.servers, 'nsd', 'knot')) {
      const [started] = await startServers([peer], recipe.set, options, startOptions(recipe.set, options));
      if (started === undefined) continue;
      const { running } = started;
      const queries = writeScaleQueries(zones, options)('zipf', 0);
      await warmUp(running, { queries, edns: { kind: 'dnssec' } }, options);
      peers.push(weigh(peer.title, running.program.pid));
      await running.stop();
    }
    return [describe(recipe, { ours, unsigned, peers }, times)];
  },
};

const startOptions = (set: ZoneSet, options: BenchOptions) => ({
  set,
  cpu: options.serverCpu,
  address: '127.0.0.1',
  limitsRates: false,
  timeoutMs: 60_000 + set.records / 10,
});

async function weighUnsigned(set: ZoneSet, options: BenchOptions): Promise<Weight> {
  const node = await startZonefleet(startOptions(set, options));
  try {
    const weight = weigh('unsigned', node.program.pid);
    return { ...weight, imageBytes: await node.metric('zonefleet_image_bytes') };
  } finally {
    await node.stop();
  }
}

async function weighSigned(
  { set }: SignedRecipe,
  options: BenchOptions,
): Promise<{ ours: Weight; times: StartTimes }> {
  const { node, times } = await startTimed(startOptions(set, options), RESTARTS);
  try {
    const queries = writeScaleQueries(set.recipe?.count ?? 0, options)('zipf', 0);
    await warmUp(node, { queries, edns: { kind: 'dnssec' } }, options);
    const weight = weigh('Zonefleet', node.program.pid);
    return { ours: { ...weight, imageBytes: await node.metric('zonefleet_image_bytes') }, times };
  } finally {
    await node.stop();
  }
}

function weigh(title: string, pid: number): Weight {
  const bytes = pssBytes(pid);
  say(`${title} takes ${(bytes / 2 ** 20).toFixed(0)} MiB`);
  return { title, bytes, largestBytes: largestPssBytes(pid) };
}

function describe(
  { set, signatures, records }: SignedRecipe,
  weights: { readonly ours: Weight; readonly unsigned: Weight; readonly peers: readonly Weight[] },
  times: StartTimes,
): Section {
  const zones = set.recipe?.count ?? 0;
  const { ours, unsigned, peers } = weights;
  const kilobytes = (bytes: number | undefined) => (bytes ?? Number.NaN) / zones / KILOBYTE;
  const nsd = peers.find(({ title }) => title === 'NSD');
  const memory = table(
    [
      '',
      'KB per zone, image',
      'KB per zone, all processes',
      'KB per zone, largest process',
      'Zonefleet ÷ its largest',
      'Zonefleet ÷ all',
    ],
    [ours, ...peers].map((weight) => [
      weight === ours ? `**${weight.title}**` : weight.title,
      weight === ours ? judged(kilobytes(weight.imageBytes), LIMITS.zone) : '',
      fixed(kilobytes(weight.bytes), 2),
      fixed(kilobytes(weight.largestBytes), 2),
      weight === ours
        ? ''
        : judged(ours.bytes / weight.largestBytes, weight === nsd ? LIMITS.ofLargest : undefined),
      weight === ours ? '' : judged(ours.bytes / weight.bytes, weight === nsd ? LIMITS.ofAll : undefined),
    ]),
  );
  const seconds = (ms: readonly number[]) => median(ms) / 1000;
  const limit = zones >= ZONES ? START_LIMIT_SECONDS : undefined;
  const starts = table(
    ['first answer after a start', 's'],
    [
      ['from the snapshot, in the page cache', judged(seconds(times.warmMs), limit)],
      ['from the snapshot, on disk', judged(seconds(times.coldMs), limit)],
      ['from Postgres', fixed(times.fromPostgresMs / 1000, 1)],
    ],
  );
  const more = (kilobytes(ours.imageBytes) - kilobytes(unsigned.imageBytes)) * KILOBYTE;
  const snapshot = fixed((times.snapshotBytes ?? Number.NaN) / 2 ** 20, 0);
  return {
    part: 'signed_memory',
    title: `Memory and start of ${count(zones)} signed zones`,
    blocks: [
      `Each zone has the 12 records of the recipe, and ${records} records with its key, NSEC and ${signatures} signatures of 64 octets. All ` +
        'zones have the signatures of the first one, because no server verifies them. Memory is the proportional set size after a load with DO.',
      memory,
      `Without signatures, the same zone takes ${fixed(kilobytes(unsigned.imageBytes), 2)} KB of the image. Each signature adds ` +
        `${fixed(more / signatures, 0)} octets, including its share of NSEC, key and order index.`,
      `The size of the snapshot is ${snapshot} MiB.`,
      starts,
    ],
    charts: [],
  };
}
