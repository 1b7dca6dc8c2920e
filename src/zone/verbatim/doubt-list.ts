// Collects doubts about a signed zone: the first few of each kind, and the number of further ones.

import type { Name } from '../../dns/name.ts';

export interface SignedZoneDoubt {
  readonly code: string;
  readonly message: string;
  /** With `type`, the set that the doubt is about. If absent, the doubt is about the zone. */
  readonly owner?: Name;
  readonly type?: number;
}

const MAX_PER_KIND = 3;

export class DoubtList {
  readonly #kinds = new Map<string, { listed: SignedZoneDoubt[]; more: number }>();

  add(code: string, owner: Name, message: string, type?: number): void {
    const kind = this.#kinds.get(code) ?? { listed: [], more: 0 };
    this.#kinds.set(code, kind);
    if (kind.listed.length === MAX_PER_KIND) kind.more++;
    else kind.listed.push({ code, message, owner, ...(type === undefined ? {} : { type }) });
  }

  /** In the order in which the kinds first occurred. */
  get list(): SignedZoneDoubt[] {
    return [...this.#kinds].flatMap(([code, { listed, more }]) =>
      more === 0 ? listed : [...listed, { code, message: `and ${more} more of ${code}` }],
    );
  }
}
