// Caches the TCP and EDNS results of our own nameservers' addresses for all domains. Thousands of domains share these
// addresses, so they are probed periodically and not once per domain.

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

  /** Returns the cached result of the last five minutes, or a new one. Concurrent callers share one probe. */
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
