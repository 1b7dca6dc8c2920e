// Runs kxdpgun, which sends queries over XDP at a rate that does not depend on the answers.

import { setTimeout as pause } from 'node:timers/promises';
import type { NetworkNamespace } from '../../test/support/network/namespace.ts';
import { runToEnd } from '../program.ts';

export interface GunLoad {
  readonly client: NetworkNamespace;
  readonly interface: string;
  readonly cpu: number | undefined;
  readonly address: string;
  readonly port: number;
  readonly queries: string;
  readonly seconds: number;
  /** Queries per second. */
  readonly rate: number;
}

export interface GunResult {
  readonly queries: number;
  readonly replies: number;
  readonly repliesPerSecond: number;
  /** Percentage of the replies by mnemonic. */
  readonly rcodes: Readonly<Record<string, number>>;
}

const GRACE_MS = 15_000;
const TRIES = 5;
const PAUSE_MS = 500;

export async function runKxdpgun(load: GunLoad): Promise<GunResult> {
  const { client, cpu, seconds, rate, queries, address, port } = load;
  const affinity = cpu === undefined ? [] : ['-F', `${cpu}s1`];
  const words = ['-t', seconds, '-Q', rate, '-I', load.interface, '-i', queries, '-p', port, ...affinity];
  const command = client.command('kxdpgun', ...words.map(String), address);
  for (let tries = TRIES; ; tries--) {
    try {
      return readResult(await runToEnd(command, { cpu, timeoutMs: seconds * 1000 + GRACE_MS }));
    } catch (error) {
      // The kernel releases the interface some time after the last run has ended.
      if (tries === 1 || !(error as Error).message.includes('resource is busy')) throw error;
      await pause(PAUSE_MS);
    }
  }
}

function readResult(output: string): GunResult {
  const figure = (pattern: RegExp): number => {
    const found = pattern.exec(output);
    if (found === null) throw new Error(`kxdpgun printed no ${pattern.source}:\n${output.slice(-1500)}`);
    return Number(found[1]);
  };
  const replies = figure(/total replies:\s+(\d+)/);
  const rcodes: Record<string, number> = {};
  for (const [, rcode, count] of output.matchAll(/responded (\w+):\s+(\d+)/g))
    rcodes[rcode as string] = (Number(count) / replies) * 100;
  return {
    queries: figure(/total queries:\s+(\d+)/),
    replies,
    repliesPerSecond: figure(/total replies:.*\((\d+) pps\)/),
    rcodes,
  };
}
