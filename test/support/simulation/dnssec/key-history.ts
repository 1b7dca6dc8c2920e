// What really was shown and served in a simulated domain, and what its owner was told: all that its judge knows.

export interface TrueKey {
  readonly id: string;
  readonly algorithm: number;
  readonly ds: readonly string[];
}

/** What the registrar entered, and from when on each address of the parent shows it. */
export interface Entered {
  readonly at: number;
  readonly ds: readonly string[];
  readonly shownFrom: readonly number[];
}

export interface Served {
  readonly keys: readonly string[];
  readonly keySigners: readonly string[];
  readonly dataSigners: readonly string[];
}

export interface ServedSpan extends Served {
  readonly from: number;
  readonly to: number;
}

export class KeyHistory {
  readonly keys = new Map<string, TrueKey>();
  readonly entered: Entered[] = [];
  readonly served: ServedSpan[] = [];
  /** The keys whose DS the owner, or CDS, was shown. */
  readonly disclosed: { readonly at: number; readonly keys: readonly string[] }[] = [];
  /** The keys whose DS a CDS set asked for when a registry acted on it. */
  readonly read: { readonly at: number; readonly keys: readonly string[] }[] = [];
  /** When a backup came back, and when it was made. */
  readonly restored: { readonly at: number; readonly backupAt: number }[] = [];
  /** When a goal was set that leaves out stays. */
  readonly hasty: number[] = [];

  disclose(at: number, keys: readonly string[]): void {
    const last = this.disclosed.at(-1)?.keys ?? [];
    if (last.join() !== keys.join()) this.disclosed.push({ at, keys });
  }

  serve(served: Served, from: number, to: number): void {
    if (to > from) this.served.push({ ...served, from, to });
  }
}
