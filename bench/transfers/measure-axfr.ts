// Transfers of the whole zone from each server in turn, and the answer times of queries during transfers.

import type { BenchOptions } from '../part.ts';
import { cpuSeconds } from '../process-tree.ts';
import { type LoadOptions, measure } from '../rounds.ts';
import { say } from '../say.ts';
import type { Contestant } from '../servers/all.ts';
import { median } from '../statistics.ts';
import type { BenchKey } from './peers.ts';
import type { TransferClient, TransferReply } from './transferring.ts';

/** Transfers whose processor time is measured together: the kernel counts it in hundredths of a second. */
const REPETITIONS = 5;

/** `first`: Zonefleet has just changed the zone. */
export const AXFR_KINDS = ['first', 'repeated', 'signed'] as const;
type AxfrKind = (typeof AXFR_KINDS)[number];

export interface Cost {
  readonly seconds: number;
  /** Processor time of the server. */
  readonly cpuSeconds: number;
  readonly octets: number;
}

export type AxfrCosts = Readonly<Record<AxfrKind, Cost>>;

export interface AxfrOrder {
  readonly client: TransferClient;
  readonly apex: string;
  /** Number of records in the zone. */
  readonly records: number;
  readonly key: BenchKey;
}

/** Median of each kind. `change` changes the zone at the server if that can be done. */
export async function measureAxfr(
  contestants: readonly Contestant[],
  { client, apex, records, key }: AxfrOrder,
  change: (contestant: Contestant) => Promise<void>,
  options: BenchOptions,
): Promise<Map<Contestant, AxfrCosts>> {
  const costs = new Map(
    contestants.map((each) => [each, { first: [], repeated: [], signed: [] } as Record<AxfrKind, Cost[]>]),
  );
  for (let round = 0; round < options.rounds; round++)
    for (let i = 0; i < contestants.length; i++) {
      const contestant = contestants[(i + round) % contestants.length] as Contestant;
      const { running, label } = contestant;
      await change(contestant);
      for (const kind of AXFR_KINDS) {
        const times = kind === 'first' ? 1 : REPETITIONS;
        const cpuBefore = cpuSeconds(running.program.pid);
        const replies: TransferReply[] = [];
        for (let n = 0; n < times; n++)
          replies.push(
            await client.transfer({
              port: running.port,
              key: kind === 'signed' ? key : undefined,
              apex,
              records: records + 1,
            }),
          );
        const cost = {
          seconds: median(replies.map(({ ms }) => ms)) / 1000,
          cpuSeconds: (cpuSeconds(running.program.pid) - cpuBefore) / times,
          octets: replies[0]?.octets ?? 0,
        };
        costs.get(contestant)?.[kind].push(cost);
        say(`  ${label}, ${kind}: ${cost.seconds.toFixed(2)} s, CPU ${cost.cpuSeconds.toFixed(2)} s`);
      }
    }
  const of = (list: readonly Cost[]): Cost => ({
    seconds: median(list.map(({ seconds }) => seconds)),
    cpuSeconds: median(list.map((cost) => cost.cpuSeconds)),
    octets: median(list.map(({ octets }) => octets)),
  });
  return new Map(
    [...costs].map(([contestant, { first, repeated, signed }]) => [
      contestant,
      { first: of(first), repeated: of(repeated), signed: of(signed) },
    ]),
  );
}

export interface LatencyDuring {
  readonly quietP99Ms: number;
  readonly busyP99Ms: number;
}

/** Transfers one after the other, while queries are answered. */
export async function measureLatencyDuring(
  contestants: readonly Contestant[],
  { client, apex, records }: AxfrOrder,
  load: LoadOptions,
  options: BenchOptions,
): Promise<Map<Contestant, LatencyDuring>> {
  const results = new Map<Contestant, LatencyDuring>();
  for (const contestant of contestants) {
    const { running, label } = contestant;
    const p99 = async () =>
      (await measure(running, { ...load, withLatency: true }, options)).latency?.p99Ms ?? Number.NaN;
    const quiet: number[] = [];
    const busy: number[] = [];
    for (let round = 0; round < options.rounds; round++) {
      quiet.push(await p99());
      let isOver = false;
      const transferring = (async () => {
        while (!isOver)
          await client.transfer({ port: running.port, key: undefined, apex, records: records + 1 });
      })();
      busy.push(await p99());
      isOver = true;
      await transferring;
    }
    const result = { quietP99Ms: median(quiet), busyP99Ms: median(busy) };
    say(`  ${label}: p99 ${result.quietP99Ms.toFixed(3)} ms, ${result.busyP99Ms.toFixed(3)} ms meanwhile`);
    results.set(contestant, result);
  }
  return results;
}
