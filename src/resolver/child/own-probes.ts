// What is remembered of our own nameservers' addresses, for all domains: thousands of domains have the same ones, so TCP
// and EDNS are looked at there once in a while, and not for each domain.

import type { EdnsOutcome } from '../../checks/child/evidence.ts';
import { ExpiringCache } from '../cache/expiring-cache.ts';

const OWN_PROBE_MS = 300_000;
const MAX_ADDRESSES = 1000;

interface OwnProbe {
  readonly tcp: 'answer' | 'unanswered';
  readonly edns: EdnsOutcome;
}

export class OwnProbes {
  readonly #now: () => number;
  readonly #probes = new ExpiringCache<Promise<OwnProbe>>(MAX_ADDRESSES);

  constructor(now: () => number) {
    this.#now = now;
  }

  /** What the address did at most five minutes ago, else what it does now: one caller asks for all. */
  async look(address: string, ask: () => Promise<OwnProbe>): Promise<OwnProbe> {
    const now = this.#now();
    const known = this.#probes.get(address, now);
    if (known !== undefined) return known;
    const asked = ask();
    this.#probes.set(address, asked, now + OWN_PROBE_MS);
    asked.catch(() => this.#probes.delete(address));
    return asked;
  }
}
