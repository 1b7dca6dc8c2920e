// Alternates runs of several servers, in changing order, so that disturbances of the machine affect all of them.

import { type Latency, type Load, type Outcome, runDnsperf, runWithLatency } from './dnsperf.ts';
import type { BenchOptions } from './part.ts';
import { cpuSeconds } from './process-tree.ts';
import { say } from './say.ts';
import type { RunningServer } from './servers/server.ts';
import { median } from './statistics.ts';

export interface Run extends Outcome {
  /** Processor time of all processes of the server per answer. */
  readonly cpuMicros: number;
  readonly latency?: Latency;
}

export type LoadOptions = Omit<Load, 'address' | 'port' | 'cpu'> & { readonly withLatency?: boolean };

/** Fraction of the answers that a valid run may lack. */
const LOST_PART = 0.01;

/** A lower rate of answers is discarded: dnsperf sometimes hangs when it opens several TCP connections. */
const STANDSTILL = 500;
const TRIES = 3;

/** Performs one run. Fails if more queries remain unanswered than chance explains. */
export async function measure(server: RunningServer, load: LoadOptions, options: BenchOptions): Promise<Run> {
  for (let tries = TRIES; ; tries--) {
    const run = await measureOnce(server, load, options);
    if (run.queriesPerSecond > STANDSTILL) return run;
    if (tries === 1) throw new Error(`${server.name} answered ${run.completed} queries in ${run.seconds} s`);
  }
}

async function measureOnce(server: RunningServer, load: LoadOptions, options: BenchOptions): Promise<Run> {
  const whole: Load = { ...load, address: server.address, port: server.port, cpu: options.loadCpu };
  const before = cpuSeconds(server.program.pid);
  const outcome = load.withLatency ? await runWithLatency(whole, options.directory) : await runDnsperf(whole);
  const used = cpuSeconds(server.program.pid) - before;
  if (outcome.lost > outcome.sent * LOST_PART) {
    throw new Error(`${server.name} lost ${outcome.lost} of ${outcome.sent} queries`);
  }
  return { ...outcome, cpuMicros: (used * 1e6) / outcome.completed };
}

/** Runs of each contestant, `options.rounds` of them, one after the other in every round. */
export async function interleave<C extends { readonly label: string }>(
  contestants: readonly C[],
  options: BenchOptions,
  run: (contestant: C, round: number) => Promise<Run>,
): Promise<Map<C, Run[]>> {
  const runs = new Map<C, Run[]>(contestants.map((contestant) => [contestant, []]));
  for (let round = 0; round < options.rounds; round++) {
    for (let i = 0; i < contestants.length; i++) {
      const contestant = contestants[(i + round) % contestants.length] as C;
      const result = await run(contestant, round);
      runs.get(contestant)?.push(result);
      say(
        `  round ${round + 1} of ${options.rounds}, ${contestant.label}: ` +
          `${Math.round(result.queriesPerSecond)} q/s, ${result.cpuMicros.toFixed(2)} µs`,
      );
    }
  }
  return runs;
}

export interface Medians {
  readonly queriesPerSecond: number;
  readonly cpuMicros: number;
  readonly lowestCpuMicros: number;
  readonly highestCpuMicros: number;
  readonly answerOctets: number;
  readonly lost: number;
  readonly latency: Latency | undefined;
}

export function mediansOf(runs: readonly Run[]): Medians {
  const of = (read: (run: Run) => number) => median(runs.map(read));
  const hasLatency = runs.every((run) => run.latency !== undefined);
  const latency = (key: keyof Latency) => of((run) => run.latency?.[key] ?? Number.NaN);
  return {
    queriesPerSecond: of((run) => run.queriesPerSecond),
    cpuMicros: of((run) => run.cpuMicros),
    lowestCpuMicros: Math.min(...runs.map((run) => run.cpuMicros)),
    highestCpuMicros: Math.max(...runs.map((run) => run.cpuMicros)),
    answerOctets: of((run) => run.answerOctets),
    lost: runs.reduce((sum, run) => sum + run.lost, 0),
    latency: hasLatency
      ? { p50Ms: latency('p50Ms'), p99Ms: latency('p99Ms'), p999Ms: latency('p999Ms') }
      : undefined,
  };
}
