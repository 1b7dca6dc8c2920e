// Messages between the processes of this part. Each generates the same zones from the same seed.

export interface CorpusOrder {
  readonly seed: number;
  readonly zones: number;
  readonly hosters: number;
}

/** Of the servers' process. */
export interface ServersOrder extends CorpusOrder {
  readonly delayMs: number;
  /** True if no hoster answers, so that only public resolvers help. */
  readonly areSilent: boolean;
  /** Public resolvers, each at its own port. */
  readonly resolvers: number;
  /** One more for a program that only uses port 53. */
  readonly at53: string | undefined;
}

export interface Place {
  readonly address: string;
  readonly port: number;
}

export interface ServersReady {
  readonly rootServers: readonly { readonly name: string; readonly addresses: readonly string[] }[];
  /** Location of each address of the generated internet. */
  readonly places: Readonly<Record<string, Place>>;
  readonly resolvers: readonly Place[];
}

/** Of the scanning process. */
export interface ScanOrder {
  readonly first: number;
  readonly zones: number;
  readonly atOnce: number;
  /** Queries per second to one address. */
  readonly perSecond: number;
}

export interface ScanReport {
  readonly scans: readonly {
    readonly zone: number;
    /** Of each record that was found. */
    readonly keys: readonly string[];
    readonly seconds: number;
    readonly queries: number;
    readonly isComplete: boolean;
  }[];
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Questions to the address that got most: in its busiest second, and in each on average. */
  readonly peak: number;
  readonly mean: number;
  readonly violations: number;
}
