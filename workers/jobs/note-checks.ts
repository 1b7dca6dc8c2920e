// Collects the domains whose delegations were checked until the next round records them with one statement. What a
// killed process did not record is recorded after the next check of the domain.

import type { NotedDomain } from '../../src/store/checks/due-child-checks.ts';
import type { CheckOutcome } from './check-delegation.ts';

/** Further domains wait for their next check. */
const MAX_NOTES = 20_000;

export class CheckNotes {
  /** By domain id: true if a caller requested the check. */
  #notes = new Map<number, boolean>();

  add(outcome: CheckOutcome): void {
    if (outcome.kind !== 'saved' || outcome.verdict === 'unknown') return;
    const { domainId, kind } = outcome.job;
    if (this.#notes.size >= MAX_NOTES && !this.#notes.has(domainId)) return;
    this.#notes.set(domainId, kind !== 'background' || this.#notes.get(domainId) === true);
  }

  /** Passes all of them to `save`. Those that cannot be saved are kept for the next time. */
  async flush(save: (noted: readonly NotedDomain[]) => Promise<void>): Promise<void> {
    const notes = this.#notes;
    if (notes.size === 0) return;
    this.#notes = new Map();
    try {
      await save([...notes].map(([domainId, isByHand]) => ({ domainId, isByHand })));
    } catch (error) {
      for (const [domainId, isByHand] of this.#notes)
        notes.set(domainId, isByHand || notes.get(domainId) === true);
      this.#notes = notes;
      throw error;
    }
  }
}
