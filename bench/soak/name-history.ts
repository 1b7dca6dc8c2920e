// The valid answers for a name: the values that were written to it, and when each was sent and stored.

/** A number that is unique in the run, or undefined if the name was deleted. */
export type Value = number | undefined;

interface Version {
  readonly value: Value;
  readonly sentMs: number;
  /** Undefined until the API has confirmed the edit. */
  storedMs: number | undefined;
}

export interface Answered {
  readonly value: Value;
  readonly answeredMs: number;
  /** Every edit that was stored at this time must be visible. */
  readonly freshMs: number;
}

/** Older versions are no longer valid answers, even if a fault lasts. */
const KEPT = 500;

/** Edits of one name do not overlap: each is sent after the former one was stored or rejected. */
export class NameHistory {
  #versions: Version[];

  constructor(value: Value, storedMs: number) {
    this.#versions = [{ value, sentMs: storedMs, storedMs }];
  }

  /** The value of the last confirmed edit. */
  get stored(): Value {
    return this.#versions.findLast(({ storedMs }) => storedMs !== undefined)?.value;
  }

  get isOpen(): boolean {
    return this.#versions.at(-1)?.storedMs === undefined;
  }

  send(value: Value, nowMs: number): void {
    if (this.isOpen) throw new Error('another edit of this name is open');
    this.#versions.push({ value, sentMs: nowMs, storedMs: undefined });
    if (this.#versions.length > KEPT) this.#versions.shift();
  }

  confirm(nowMs: number): void {
    const last = this.#versions.at(-1) as Version;
    last.storedMs = nowMs;
  }

  /** For an edit that the API rejected. */
  withdraw(): void {
    if (this.isOpen) this.#versions.pop();
  }

  /** Returns undefined if the answer is allowed, otherwise what is wrong with it. */
  fault({ value, answeredMs, freshMs }: Answered): string | undefined {
    const oldest = Math.max(
      0,
      this.#versions.findLastIndex(({ storedMs }) => storedMs !== undefined && storedMs <= freshMs),
    );
    const at = this.#versions.findLastIndex(
      (version) => version.value === value && version.sentMs <= answeredMs,
    );
    if (at >= oldest) return undefined;
    const expected = this.#versions.slice(oldest).map((version) => version.value ?? 'none');
    const kind = at < 0 ? 'was never written' : 'is outdated';
    return `${value ?? 'none'} ${kind}, expected ${expected.slice(-5).join(' or ')}`;
  }
}
