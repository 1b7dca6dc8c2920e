// What a part of the benchmark is: it measures, and gives a section of RESULTS.md.

import type { Chart } from './report/chart.ts';
import type { Server } from './servers/server.ts';

export interface BenchOptions {
  /** Runs of each server; the median counts. */
  readonly rounds: number;
  /** Of each run. */
  readonly seconds: number;
  /** Of the recipe; undefined: what the part takes by itself. */
  readonly zones: number | undefined;
  /** Of the soak. */
  readonly soakSeconds: number;
  /** Those that are installed and wanted. */
  readonly servers: readonly Server[];
  /** Somebody named them: then also those take part that a part leaves out by itself. */
  readonly serversAreChosen: boolean;
  readonly serverCpu: number | undefined;
  readonly loadCpu: number | undefined;
  /** For query files; gone with the benchmark. */
  readonly directory: string;
  /** What was asked for beyond the parts, for a part that starts the benchmark anew. */
  readonly words: readonly string[];
}

export interface Section {
  readonly part: PartName;
  readonly title: string;
  /** Markdown: tables and what to know about them. */
  readonly blocks: readonly string[];
  readonly charts: readonly Chart[];
  /** What its figures are of, where it isn't the medians of as many runs as were asked for. */
  readonly runs?: string;
}

export type PartName =
  | 'answers'
  | 'signed'
  | 'signed_memory'
  | 'tcp'
  | 'rrl'
  | 'regions'
  | 'dns_counts'
  | 'latency'
  | 'edits'
  | 'signed_edits'
  | 'refresh'
  | 'checks'
  | 'public_checks'
  | 'scan'
  | 'api'
  | 'logins'
  | 'edge'
  | 'cache'
  | 'analytics'
  | 'million'
  | 'memory'
  | 'start'
  | 'soak'
  | 'signing'
  | 'region_signing'
  | 'console';

export interface Part {
  readonly names: readonly PartName[];
  run(options: BenchOptions, wanted: ReadonlySet<PartName>): Promise<Section[]>;
}
