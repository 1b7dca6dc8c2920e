// All servers of the comparison, Zonefleet first. Starts several of them with one set of zones.

import type { BenchOptions } from '../part.ts';
import { say } from '../say.ts';
import { type ZoneSet, zoneCount } from '../zones/zone-set.ts';
import { bind } from './bind.ts';
import { echo } from './echo.ts';
import { knot } from './knot.ts';
import { nsd } from './nsd.ts';
import { powerdns } from './powerdns.ts';
import type { RunningServer, Server, ServerName, StartOptions } from './server.ts';
import { zonefleet } from './zonefleet.ts';

export const ALL_SERVERS: readonly Server[] = [zonefleet, nsd, knot, powerdns, bind, echo];

export interface Contestant {
  readonly server: Pick<Server, 'name' | 'title'>;
  readonly running: RunningServer;
  /** For the progress lines. */
  readonly label: string;
}

/** All run at the same time: an idle server uses only memory. */
export async function startServers(
  servers: readonly Server[],
  set: ZoneSet,
  options: BenchOptions,
  change: Partial<StartOptions> = {},
): Promise<Contestant[]> {
  const started: Contestant[] = [];
  for (const server of servers) {
    const running = await server.start({
      set,
      cpu: options.serverCpu,
      address: '127.0.0.1',
      limitsRates: false,
      timeoutMs: 30_000 + zoneCount(set) / 2,
      ...change,
    });
    say(
      `${server.title} answers for ${zoneCount(set)} zones after ${(running.firstAnswerMs / 1000).toFixed(1)} s`,
    );
    started.push({ server, running, label: server.title });
  }
  return started;
}

export async function stopServers(contestants: readonly Contestant[]): Promise<void> {
  for (const { running } of contestants) await running.stop();
}

export function serversNamed(servers: readonly Server[], ...names: ServerName[]): Server[] {
  return servers.filter((server) => names.includes(server.name));
}
