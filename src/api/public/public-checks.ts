// Checks delegations for everyone (setting PUBLIC_CHECK). The client chooses the name, and so the servers that receive queries:
// everything that a check can cost is bounded here. Results are kept in this process only, and contain nothing about customers.
//
//   ask ──> too many by this address ──> limited
//      ├──> a result of the last minutes ──> it
//      ├──> the same name is looked at now ──> wait for that
//      └──> wait for a place and the next start ──> walk ──> kept
//                   └──> too long, or too many wait ──> busy

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
 * `allowReserved`: names such as `example.com` and `test` (RFC 6761), which a lab may have. A name that no public zone can
 * delegate is refused, so that no walk tells other people's servers of it (RFC 7686 §2, RFC 6761 §6.3).
 */
export function judgePublicName(text: string, allowReserved: boolean): PublicName {
  const read = parseDomainName(text);
  if (read.kind === 'problem') return read;
  const refused = judgeDomainName(read.name, { allowReserved, dnsMode: 'managed' });
  return refused === undefined ? read : { kind: 'problem', message: refused.message };
}

type Asked =
  | { readonly kind: 'seen'; readonly evidence: Evidence }
  /** The address has asked as often as it may. */
  | { readonly kind: 'limited'; readonly retryAfterSeconds: number }
  /** No place became free in time. */
  | { readonly kind: 'busy' };

export interface PublicCheckLimits {
  /** How many times one IPv4 address or IPv6 /64 may ask in any 60 seconds. */
  readonly asksPerMinute: number;
  /** How many walks go on at once. */
  readonly places: number;
  /** The shortest time from the start of one walk to that of the next. */
  readonly startEveryMs: number;
  /** How long, and how many at once, wait for a walk to start. */
  readonly waitMs: number;
  readonly waiting: number;
  /** How long a name is not looked at again. */
  readonly freshMs: number;
  /** How many results are kept, and of what size in all, in characters. */
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
  /** The oldest result first. */
  readonly #kept = new Map<Name, Kept>();
  #keptSize = 0;
  /** Undefined: no place became free. */
  readonly #running = new Map<Name, Promise<Evidence | undefined>>();
  readonly #waiters = new Set<Waiter>();
  #active = 0;
  #nextStartMs = Number.NEGATIVE_INFINITY;
  #pending: NodeJS.Timeout | undefined;

  /** `nowMs`: a clock that is never set. */
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

  /** The newest result that is kept. */
  last(domain: Name): Evidence | undefined {
    return this.#kept.get(domain)?.evidence;
  }

  /** Rejects when the walk does. */
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

  /** How many results are kept, for tests. */
  get size(): number {
    return this.#kept.size;
  }

  #begin(domain: Name): Promise<Evidence | undefined> {
    const running = this.#lookInTurn(domain).finally(() => this.#running.delete(domain));
    this.#running.set(domain, running);
    return running;
  }

  async #lookInTurn(domain: Name): Promise<Evidence | undefined> {
    if (!(await this.#takePlace())) return undefined;
    try {
      const evidence = boundEvidence(await this.#walk(domain));
      this.#keep(domain, evidence);
      return evidence;
    } finally {
      this.#active--;
      this.#serve();
    }
  }

  #takePlace(): Promise<boolean> {
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

  /** Lets the first in line begin, when it may. */
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
