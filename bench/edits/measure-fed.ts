// The effect of 1,000 changes per second, passed to the image writer, on the answers of the same process.

import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/processes/free-port.ts';
import type { BenchOptions } from '../part.ts';
import { measure } from '../rounds.ts';
import { say } from '../say.ts';
import { launch } from '../servers/server.ts';
import { warmUp } from '../warm-up.ts';
import { writeQueries } from '../zones/query-file.ts';
import { evenly, makeRecipeZones, recipeQuestions } from '../zones/recipe-zones.ts';
import { type ComparedLoads, compareLoads } from './compare-loads.ts';

const MAX_ZONES = 50_000; // the node builds each in a tenth of a millisecond
const CHANGES_PER_SECOND = 1000;
const PROGRAM = fileURLToPath(new URL('./fed-node.ts', import.meta.url));

export async function measureFed(zones: number, options: BenchOptions): Promise<ComparedLoads> {
  const count = Math.min(zones, MAX_ZONES);
  const lines = recipeQuestions(evenly(count), 1_000_000, 8);
  const queries = writeQueries(options.directory, 'fed', lines);
  const [address, port] = ['127.0.0.1', await freePort()];
  const server = await launch(
    'zonefleet',
    [process.execPath, '--import', 'tsx', PROGRAM, address, String(port), String(count)],
    {
      set: makeRecipeZones(count),
      cpu: options.serverCpu,
      address,
      port,
      limitsRates: false,
      timeoutMs: 120_000,
      program: { ipc: true },
    },
  );
  say(`a node without Postgres answers for ${count} zones`);
  /** The number of changes made since the last call. */
  const changeBy = async (perSecond: number): Promise<number> => {
    const answer = once(server.program.child, 'message');
    server.program.child.send(perSecond);
    return (await answer)[0] as number;
  };
  try {
    await warmUp(server, { queries }, options);
    const most = await measure(server, { queries, seconds: options.seconds }, options);
    const load = {
      queries,
      seconds: options.seconds,
      rate: most.queriesPerSecond / 2,
      withLatency: true,
    };
    return await compareLoads(
      options,
      () => measure(server, load, options),
      async () => {
        await changeBy(CHANGES_PER_SECOND);
        const run = await measure(server, load, options);
        return { run, changesPerSecond: (await changeBy(0)) / run.seconds };
      },
    );
  } finally {
    await server.stop();
  }
}
