// Checks delegations for anyone (setting PUBLIC_CHECK). The client chooses the name, and so the servers that receive
// queries. Therefore, everything that a check can cost is bounded here. Results are kept only in this process, and
// contain nothing about customers.
//
//   ask ──> too many by this address ──────────> limited
//      ├──> a recent result ───────────────────────> this result
//      ├──> a walk for the same name is running ───> its result
//      └──> wait for a slot and the next start ──> walk ──> result, kept
//                   └──> too long, or too many are waiting ──> busy

import type { Evidence } from '../../checks/delegation/evidence.ts';
import type { Name } from '../../dns/name.ts';
import { networkOf } from '../../process/http/connections.ts';
import { judgeDomainName, parseDomainName } from '../../zone/domain/domain-name.ts';
import { MemoryWindows } from '../callers/rate-limits.ts';
import { boundEvidence, sizeOf } from './bound-evidence.ts';

type PublicName =
  | { readonly kind: 'name'; readonly name: Name; readonly unicode: string }
  | { readonly kind: 'problem'; readonly message: string };

/**
 * Parses the name of a public check. With `allowReserved`, it may be a name such as `example.com` or `test` (RFC
 * 6761), which a lab may use. Other names that no public zone can delegate are refused, so that no walk leaks them to
 * third-party servers (RFC 7686 §2, RFC 6761 §6.3).
 */
export function judgePublicName(text: string, allowReserved: boolean): PublicName {
  const read = parseDomainName(text);
  if (read.kind === 'problem') return read;
  const refused = judgeDomainName(read.name, { allowReserved, dnsMode: 'managed' });
  return refused === undefined ? read : { kind: 'problem', message: refused.message };
}

type Asked =
  | { readonly kind: 'seen'; readonly evidence: Evidence }
  /** The address has sent as many requests as it may. */
  | { readonly kind: 'limited'; readonly retryAfterSeconds: number }
  /** No slot became free in time. */
  | { readonly kind: 'busy' };

export interface PublicCheckLimits {
  /** Requests that one IPv4 address or IPv6 /64 may send in any 60 seconds. */
  readonly asksPerMinute: number;
  /** Maximum number of concurrent walks. */
  readonly places: number;
  /** Minimum time between the starts of two walks. */
  readonly startEveryMs: number;
  /** Maximum wait for a walk to start, and maximum number of waiting requests. */
  readonly waitMs: number;
  readonly waiting: number;
  /** Time for which a result is reused. */
  readonly freshMs: number;
  /** Maximum number of results, and their maximum total size in characters. */
  readonly kept: number;
  readonly keptSize: number;
}

const PUBLIC_CHECK_LIMITS: PublicCheckLimits = {
  asksPerMinute: 10,
  places: 2,
  startEveryMs: 500,
  waitMs: 5000,
  waiting: 20,
  freshMs: 300_000,
  kept: 1000,
  keptSize: 16_000_000,
};

interface Kept {
  readonly evidence: Evidence;
  readonly atMs: number;
  readonly size: number;
}

interface Waiter {
  readonly begin: () => void;
  readonly giveUp: NodeJS.Timeout;
}

export class PublicChecks {
  readonly #walk: (domain: Name) => Promise<Evidence>;
  readonly #limits: PublicCheckLimits;
  readonly #nowMs: () => number;
  readonly #windows: MemoryWindows;
  /** Sorted oldest first. */
  readonly #kept = new Map<Name, Kept>();
  #keptSize = 0;
  /** The running walks. A promise resolves to undefined if no slot became free. */
  readonly #running = new Map<Name, Promise<Evidence | undefined>>();
  readonly #waiters = new Set<Waiter>();
  #active = 0;
  #nextStartMs = Number.NEGATIVE_INFINITY;
  #pending: NodeJS.Timeout | undefined;

  /** `nowMs` is a monotonic clock. */
  constructor(
    walk: (domain: Name) => Promise<Evidence>,
    limits: Partial<PublicCheckLimits> = {},
    nowMs: () => number = () => performance.now(),
  ) {
    this.#walk = walk;
    this.#limits = { ...PUBLIC_CHECK_LIMITS, ...limits };
    this.#nowMs = nowMs;
    this.#windows = new MemoryWindows(this.#limits.asksPerMinute, nowMs);
  }

  /** Returns the newest result that is kept. */
  last(domain: Name): Evidence | undefined {
    return this.#kept.get(domain)?.evidence;
  }

  /** Rejects if the walk does. */
  async ask(domain: Name, address: string): Promise<Asked> {
    const { admitted, waitMs } = this.#windows.take(networkOf(address));
    if (!admitted) return { kind: 'limited', retryAfterSeconds: Math.ceil(waitMs / 1000) };
    const kept = this.#kept.get(domain);
    if (kept !== undefined && this.#nowMs() - kept.atMs < this.#limits.freshMs)
      return { kind: 'seen', evidence: kept.evidence };
    const running = this.#running.get(domain) ?? this.#begin(domain);
    const evidence = await running;
    return evidence === undefined ? { kind: 'busy' } : { kind: 'seen', evidence };
  }

  /** Number of results that are kept, for tests. */
  get size(): number {
    return this.#kept.size;
  }

  #begin(domain: Name): Promise<Evidence | undefined> {
    const running = this.#walkInTurn(domain).finally(() => this.#running.delete(domain));
    this.#running.set(domain, running);
    return running;
  }

  async #walkInTurn(domain: Name): Promise<Evidence | undefined> {
    if (!(await this.#takeSlot())) return undefined;
    try {
      const evidence = boundEvidence(await this.#walk(domain));
      this.#keep(domain, evidence);
      return evidence;
    } finally {
      this.#active--;
      this.#serve();
    }
  }

  #takeSlot(): Promise<boolean> {
    const { waiting, waitMs } = this.#limits;
    if (this.#waiters.size >= waiting) return Promise.resolve(false);
    return new Promise((resolve) => {
      const giveUp = setTimeout(() => {
        this.#waiters.delete(waiter);
        resolve(false);
      }, waitMs);
      const waiter = { begin: () => resolve(true), giveUp };
      this.#waiters.add(waiter);
      this.#serve();
    });
  }

  /** Starts the first in the queue if it may start. */
  #serve(): void {
    const [first] = this.#waiters;
    if (first === undefined || this.#active >= this.#limits.places || this.#pending !== undefined) return;
    const untilMs = this.#nextStartMs - this.#nowMs();
    if (untilMs > 0) {
      this.#pending = setTimeout(() => {
        this.#pending = undefined;
        this.#serve();
      }, Math.ceil(untilMs));
      return;
    }
    this.#nextStartMs = this.#nowMs() + this.#limits.startEveryMs;
    this.#active++;
    this.#waiters.delete(first);
    clearTimeout(first.giveUp);
    first.begin();
    this.#serve();
  }

  #keep(domain: Name, evidence: Evidence): void {
    this.#forget(domain);
    const size = sizeOf(evidence);
    this.#kept.set(domain, { evidence, atMs: this.#nowMs(), size });
    this.#keptSize += size;
    while (this.#kept.size > this.#limits.kept || this.#keptSize > this.#limits.keptSize) {
      const [oldest] = this.#kept.keys();
      if (oldest === undefined) return;
      this.#forget(oldest);
    }
  }

  #forget(domain: Name): void {
    this.#keptSize -= this.#kept.get(domain)?.size ?? 0;
    this.#kept.delete(domain);
  }
}
