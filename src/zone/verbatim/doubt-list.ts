// Collects doubts about a signed zone: of each kind the first few, and how many more there are.

import type { Name } from '../../dns/name.ts';

export interface SignedZoneDoubt {
  readonly code: string;
  readonly message: string;
  /** With `type`: whose first record the doubt is about. Absent: the zone. */
  readonly owner?: Name;
  readonly type?: number;
}

const TOLD_OF_A_KIND = 3;

export class DoubtList {
  readonly #kinds = new Map<string, { told: SignedZoneDoubt[]; more: number }>();

  add(code: string, owner: Name, message: string, type?: number): void {
    const kind = this.#kinds.get(code) ?? { told: [], more: 0 };
    this.#kinds.set(code, kind);
    if (kind.told.length === TOLD_OF_A_KIND) kind.more++;
    else kind.told.push({ code, message, owner, ...(type === undefined ? {} : { type }) });
  }

  /** In the order in which the kinds were first met. */
  get list(): SignedZoneDoubt[] {
    return [...this.#kinds].flatMap(([code, { told, more }]) =>
      more === 0 ? told : [...told, { code, message: `and ${more} more of ${code}` }],
    );
  }
}
