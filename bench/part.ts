// A part of the benchmark: it measures, and returns a section of RESULTS.md.

import type { Chart } from './report/chart.ts';
import type { Server } from './servers/server.ts';

export interface BenchOptions {
  /** Runs of each server. Results are their medians. */
  readonly rounds: number;
  /** Duration of each run. */
  readonly seconds: number;
  /** The commit with which a part compares this tree. */
  readonly old: string;
  /** Number of zones of the recipe. Default: that of the part. */
  readonly zones: number | undefined;
  /** Duration of the soak. */
  readonly soakSeconds: number;
  /** Selected servers that are installed. */
  readonly servers: readonly Server[];
  /** True if the part was named explicitly: then it also includes servers that it usually omits. */
  readonly serversAreChosen: boolean;
  readonly serverCpu: number | undefined;
  readonly loadCpu: number | undefined;
  /** For query files. Removed when the benchmark ends. */
  readonly directory: string;
  /** Further arguments, for a part that starts the benchmark again. */
  readonly words: readonly string[];
}

export interface Section {
  readonly part: PartName;
  readonly title: string;
  /** Markdown: tables and explanations. */
  readonly blocks: readonly string[];
  readonly charts: readonly Chart[];
  /** Describes its figures, unless they are the medians of the requested number of runs. */
  readonly runs?: string;
}

export type PartName =
  | 'answers'
  | 'signed'
  | 'signed_memory'
  | 'tcp'
  | 'tls'
  | 'rrl'
  | 'xdp'
  | 'regions'
  | 'dns_counts'
  | 'latency'
  | 'capacity'
  | 'edits'
  | 'signed_edits'
  | 'refresh'
  | 'notify'
  | 'transfer'
  | 'update'
  | 'checks'
  | 'public_checks'
  | 'cli'
  | 'scan'
  | 'api'
  | 'domains'
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
