// Messages between the processes of this part. Each generates the same zones from the same seed.

export interface CorpusOrder {
  readonly seed: number;
  readonly zones: number;
  readonly hosters: number;
}

/** Order for the process of the servers. */
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

/** Order for the scanning process. */
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
    /** Keys of the found records. */
    readonly keys: readonly string[];
    readonly seconds: number;
    readonly queries: number;
    readonly isComplete: boolean;
  }[];
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Queries per second to the address that received the most: in its busiest second, and on average. */
  readonly peak: number;
  readonly mean: number;
  readonly violations: number;
}
