// Authenticates requests from observers by their headers alone, since the signature covers the digest of the body. A
// client without a key cannot make this process receive a body, and cannot use up the limits of an observer.

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

/** An observer that signed the headers of its request. The body has not been received yet. */
export interface VerifiedVantage {
  readonly name: string;
  /** Returns a problem if this is not the signed body. */
  judgeBody(body: Uint8Array): Problem | undefined;
  /** Frees the slot of the body. */
  release(): void;
}

interface VantageLimits {
  /** Requests of one observer in any 60 seconds. */
  readonly perMinute: number;
  /** Bodies of one observer that are received concurrently. */
  readonly bodies: number;
  /** How long keys are cached. A removed observer is refused after this time. */
  readonly keysMs: number;
}

/** An observer sends one answer per job. Most bodies arrive together with their headers. */
const LIMITS: VantageLimits = { perMinute: 3000, bodies: 16, keysMs: 250 };

export class VantageCallers {
  readonly #db: Database;
  readonly #limits: VantageLimits;
  readonly #nowMs: () => number;
  readonly #calls: MemoryWindows;
  /** Number of bodies that are being received, by observer. */
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

  /** Must run before the body is read. Call `release` when the body was received, or will not be. */
  async verify(
    headers: Readonly<Record<string, string | string[] | undefined>>,
    signed: SignedRequest,
  ): Promise<VerifiedVantage | Problem> {
    const proof = readVantageHeaders(headers);
    if (proof === undefined)
      return unsigned('the headers x-vantage-name, -time, -nonce, -digest and -signature are required');
    if (Math.abs(this.#nowMs() - proof.timeMs) > VANTAGE_CLOCK_MS)
      return unsigned("x-vantage-time: not within 60 seconds of the server's time");
    const { name, nonce, digest } = proof;
    const key = readPublicKey((await this.#loadKeys()).get(name) ?? '');
    if (key === undefined || !isSignedBy(key, proof, signed, this.#nowMs())) return unsigned(WRONG);
    const limited = this.#count(name);
    if (limited !== undefined) return limited;
    if (!(await useNonce(this.#db, name, nonce))) return unsigned('x-vantage-nonce: used before');
    const release = this.#receive(name);
    if (release === undefined)
      return unavailable('too many requests of this observer at the same time; try again', 1);
    const judgeBody = (body: Uint8Array) =>
      digestOf(body) === digest ? undefined : unsigned('x-vantage-digest: does not match the body');
    return { name, judgeBody, release };
  }

  /** Counts only verified requests, so that others cannot use up the limit of an observer. */
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

  /** Loads all keys together, so that unknown names cause no lookups of their own. */
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

/** The text is the same for a wrong name and a wrong signature, so that it does not reveal which observers exist. */
const WRONG = 'the request is not signed by a known observer';

function unsigned(error: string): Problem {
  return new Problem(401, error, { headers: { 'WWW-Authenticate': 'Zonefleet-Vantage' } });
}
