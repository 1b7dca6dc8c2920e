// Processor time of this process and of Postgres: what work takes, also on a machine that does other things beside.

import { cpuSeconds } from '../process-tree.ts';
import { benchCluster } from './cluster.ts';

/** Seconds so far. */
export async function cpuUsed(): Promise<number> {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + cpuSeconds((await benchCluster()).pid);
}
