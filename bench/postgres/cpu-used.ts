// CPU time of this process and of Postgres: the cost of work, also on a machine with other load.

import { cpuSeconds } from '../process-tree.ts';
import { benchCluster } from './cluster.ts';

/** Seconds so far. */
export async function cpuUsed(): Promise<number> {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + cpuSeconds((await benchCluster()).pid);
}
