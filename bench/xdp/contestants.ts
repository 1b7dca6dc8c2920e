// Starts the servers of the part `xdp`, each on its own link, because an interface has at most one XDP program and Knot does
// not detach its own.

import type { LinkedHosts } from '../../test/support/network/linked-hosts.ts';
import type { BenchOptions } from '../part.ts';
import { say } from '../say.ts';
import { echo } from '../servers/echo.ts';
import { knot } from '../servers/knot.ts';
import { nsd } from '../servers/nsd.ts';
import type { RunningServer, Server, ServerName, StartOptions } from '../servers/server.ts';
import { startZonefleet, type ZonefleetOptions } from '../servers/zonefleet.ts';
import type { ZoneSet } from '../zones/zone-set.ts';

export type ContestantName = 'ours' | 'ours-kernel' | 'knot' | 'nsd-kernel' | 'echo-kernel';

export interface XdpContestant {
  readonly name: ContestantName;
  readonly label: string;
  readonly interface: string;
  readonly running: RunningServer;
}

interface Entry {
  readonly name: ContestantName;
  readonly label: string;
  readonly server: ServerName;
  readonly isXdp: boolean;
  start(options: ZonefleetOptions): Promise<RunningServer>;
}

const of = (server: Server) => (options: StartOptions) => server.start(options);
const ENTRIES: readonly Entry[] = [
  { name: 'ours', label: 'Zonefleet, XDP', server: 'zonefleet', isXdp: true, start: startZonefleet },
  {
    name: 'ours-kernel',
    label: 'Zonefleet, kernel',
    server: 'zonefleet',
    isXdp: false,
    start: (options) =>
      startZonefleet({ ...options, environment: { DNS_IO: 'koffi', NODE_NAME: 'bench-kernel' } }),
  },
  { name: 'knot', label: 'Knot DNS, XDP', server: 'knot', isXdp: true, start: of(knot) },
  { name: 'nsd-kernel', label: 'NSD, kernel', server: 'nsd', isXdp: false, start: of(nsd) },
  { name: 'echo-kernel', label: 'C echo, kernel', server: 'echo', isXdp: false, start: of(echo) },
];
export const TITLES = new Map(ENTRIES.map(({ name, label }) => [name, label]));
const NETWORK = '198.18';
const FIRST_NETWORK = 10;

export async function startContestants(
  hosts: LinkedHosts,
  set: ZoneSet,
  options: BenchOptions,
): Promise<XdpContestant[]> {
  const started: XdpContestant[] = [];
  const installed = ENTRIES.filter(({ server }) => options.servers.some(({ name }) => name === server));
  for (const [i, { name, label, isXdp, start }] of installed.entries()) {
    const link = `zf${FIRST_NETWORK + i}`;
    const [address, client] = [1, 2].map((host) => `${NETWORK}.${FIRST_NETWORK + i}.${host}`) as [
      string,
      string,
    ];
    await hosts.addLink(link, address, client);
    const running = await start({
      set,
      address,
      cpu: options.serverCpu,
      limitsRates: false,
      timeoutMs: 60_000,
      ...(isXdp && { xdpInterface: link }),
    });
    say(`${label} answers`);
    started.push({ name, label, interface: link, running });
  }
  return started;
}
