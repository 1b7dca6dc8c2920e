// What the processes of this part tell each other. Each makes the same zones from the same seed.

export interface CorpusOrder {
  readonly seed: number;
  readonly zones: number;
  readonly hosters: number;
}

/** Of the servers' process. */
export interface ServersOrder extends CorpusOrder {
  readonly delayMs: number;
  /** No hoster says anything: only resolvers of others help. */
  readonly areSilent: boolean;
  /** Resolvers of others, at ports of their own. */
  readonly resolvers: number;
  /** One more for a program that asks port 53 only. */
  readonly at53: string | undefined;
}

export interface Place {
  readonly address: string;
  readonly port: number;
}

export interface ServersReady {
  readonly rootServers: readonly { readonly name: string; readonly addresses: readonly string[] }[];
  /** Where each address of the made internet is. */
  readonly places: Readonly<Record<string, Place>>;
  readonly resolvers: readonly Place[];
}

/** Of the scanning process. */
export interface ScanOrder {
  readonly first: number;
  readonly zones: number;
  readonly atOnce: number;
  /** Questions a second to one address. */
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
