// Identifies the observer that sends a request. Its signature covers the digest of the body, so it is verified from the headers
// alone: a client without a key cannot make this process receive a body, or keep out observers that have one.

import {
  digestOf,
  isSignedBy,
  readPublicKey,
  readVantageHeaders,
  type SignedRequest,
  VANTAGE_CLOCK_MS,
} from '../../process/vantage-signature.ts';
import type { Database } from '../../store/postgres/database.ts';
import { listVantages, useNonce } from '../../store/vantage/vantages.ts';
import { Problem, unavailable } from '../answers/problem.ts';
import { MemoryWindows } from './rate-limits.ts';

/** A vantage that has signed the headers of its request. Its body has not come yet. */
export interface VerifiedVantage {
  readonly name: string;
  /** Why this is not the body that was signed. */
  judgeBody(body: Uint8Array): Problem | undefined;
  /** Its body takes no memory any more. */
  release(): void;
}

interface VantageLimits {
  /** Requests of one vantage in any 60 seconds. */
  readonly perMinute: number;
  /** Bodies of one vantage that are received at a time. */
  readonly bodies: number;
  /** How long the keys are remembered: a vantage that is removed is refused after that. */
  readonly keysMs: number;
}

/** A vantage sends one answer for each job that it takes; most come whole with their headers. */
const LIMITS: VantageLimits = { perMinute: 3000, bodies: 16, keysMs: 250 };

export class VantageCallers {
  readonly #db: Database;
  readonly #limits: VantageLimits;
  readonly #nowMs: () => number;
  readonly #calls: MemoryWindows;
  /** Bodies that are being received, by vantage. */
  readonly #receiving = new Map<string, number>();
  #keys: { readonly atMs: number; readonly found: Promise<ReadonlyMap<string, string>> } | undefined;

  constructor(
    db: Database,
    { limits = {}, nowMs = Date.now }: { limits?: Partial<VantageLimits>; nowMs?: () => number } = {},
  ) {
    this.#db = db;
    this.#limits = { ...LIMITS, ...limits };
    this.#nowMs = nowMs;
    this.#calls = new MemoryWindows(this.#limits.perMinute, nowMs);
  }

  /** Before the body is read. Each nonce counts once. Call `release` when the body has come, or will not. */
  async verify(
    headers: Readonly<Record<string, string | string[] | undefined>>,
    signed: SignedRequest,
  ): Promise<VerifiedVantage | Problem> {
    const proof = readVantageHeaders(headers);
    if (proof === undefined)
      return unsigned('the headers x-vantage-name, -time, -nonce, -digest and -signature are needed');
    if (Math.abs(this.#nowMs() - proof.timeMs) > VANTAGE_CLOCK_MS)
      return unsigned('x-vantage-time: not within 60 seconds of our time');
    const { name, nonce, digest } = proof;
    const key = readPublicKey((await this.#loadKeys()).get(name) ?? '');
    if (key === undefined || !isSignedBy(key, proof, signed, this.#nowMs())) return unsigned(WRONG);
    const limited = this.#count(name);
    if (limited !== undefined) return limited;
    if (!(await useNonce(this.#db, name, nonce))) return unsigned('x-vantage-nonce: used before');
    const release = this.#receive(name);
    if (release === undefined) return unavailable('too many bodies of this observer at a time; try again', 1);
    const judgeBody = (body: Uint8Array) =>
      digestOf(body) === digest ? undefined : unsigned('x-vantage-digest: not that of the body');
    return { name, judgeBody, release };
  }

  /** Counted only once it is verified: nobody else uses up what a vantage may send. */
  #count(name: string): Problem | undefined {
    const { admitted, waitMs } = this.#calls.take(name);
    if (admitted) return undefined;
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    return new Problem(429, 'rate limit exceeded', { headers: { 'Retry-After': String(seconds) } });
  }

  #receive(name: string): (() => void) | undefined {
    const own = this.#receiving.get(name) ?? 0;
    if (own >= this.#limits.bodies) return undefined;
    this.#receiving.set(name, own + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = (this.#receiving.get(name) ?? 1) - 1;
      if (left > 0) this.#receiving.set(name, left);
      else this.#receiving.delete(name);
    };
  }

  /** Unknown names cost no look-up of their own. */
  #loadKeys(): Promise<ReadonlyMap<string, string>> {
    const nowMs = performance.now();
    if (this.#keys === undefined || nowMs - this.#keys.atMs >= this.#limits.keysMs) {
      const found = listVantages(this.#db).then(
        (vantages) => new Map(vantages.map(({ name, publicKey }) => [name, publicKey])),
      );
      found.catch(() => {
        this.#keys = undefined;
      });
      this.#keys = { atMs: nowMs, found };
    }
    return this.#keys.found;
  }
}

/** The same whether the name or the signature is wrong, so that it does not reveal which vantages there are. */
const WRONG = 'the request is not signed by a vantage that is known here';

function unsigned(error: string): Problem {
  return new Problem(401, error, { headers: { 'WWW-Authenticate': 'Zonefleet-Vantage' } });
}
