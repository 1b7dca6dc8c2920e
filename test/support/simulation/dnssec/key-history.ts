// The true history of a simulated domain: what was shown and served, and what its owner saw. Its judge knows nothing else.

export interface TrueKey {
  readonly id: string;
  readonly algorithm: number;
  readonly ds: readonly string[];
}

/** DS records that the registrar entered, and from when on each address of the parent shows them. */
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
  /** Keys whose DS was shown to the owner or in CDS. */
  readonly disclosed: { readonly at: number; readonly keys: readonly string[] }[] = [];
  /** Keys whose DS was in a CDS set when a registry acted on it. */
  readonly read: { readonly at: number; readonly keys: readonly string[] }[] = [];
  /** When a backup was restored, and when it was made. */
  readonly restored: { readonly at: number; readonly backupAt: number }[] = [];
  /** When a goal without stays was set. */
  readonly hasty: number[] = [];

  disclose(at: number, keys: readonly string[]): void {
    const last = this.disclosed.at(-1)?.keys ?? [];
    if (last.join() !== keys.join()) this.disclosed.push({ at, keys });
  }

  serve(served: Served, from: number, to: number): void {
    if (to > from) this.served.push({ ...served, from, to });
  }
}
