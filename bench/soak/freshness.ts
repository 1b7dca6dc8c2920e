// How current each node's answers must be: within a bound of the edit, except while a fault affects the node.

export class Freshness {
  readonly #usualLagMs: number;
  /** Beginning of the fault that affects each node. */
  readonly #disturbed = new Map<string, number>();
  /** End of the last fault of each node: queries sent before may still be waiting for answers. */
  readonly #ended = new Map<string, { readonly sinceMs: number; readonly untilMs: number }>();

  /** `usualLagMs` is the time from an edit to its answer that a healthy fleet does not exceed on this machine. */
  constructor(usualLagMs: number) {
    this.#usualLagMs = usualLagMs;
  }

  disturb(nodes: readonly string[], nowMs: number): void {
    for (const node of nodes) if (!this.#disturbed.has(node)) this.#disturbed.set(node, nowMs);
  }

  /** All nodes have every edit again. */
  recovered(nowMs: number): void {
    for (const [node, sinceMs] of this.#disturbed) this.#ended.set(node, { sinceMs, untilMs: nowMs });
    this.#disturbed.clear();
  }

  isDisturbed(node: string, sinceMs: number): boolean {
    return (
      this.#disturbed.has(node) || (this.#ended.get(node)?.untilMs ?? Number.NEGATIVE_INFINITY) >= sinceMs
    );
  }

  /** Returns the time of the newest edit that the node must know when it answers a query of `askedMs`. */
  freshMs(node: string, askedMs: number): number {
    const ended = this.#ended.get(node);
    const sinceMs =
      this.#disturbed.get(node) ??
      (ended !== undefined && ended.untilMs >= askedMs ? ended.sinceMs : askedMs);
    return Math.min(askedMs, sinceMs) - this.#usualLagMs;
  }
}
