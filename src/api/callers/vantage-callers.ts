// Which observer elsewhere sends a request: its signature covers the body, so what can be refused without the body is refused before it
// is read, and without asking Postgres.

import {
  isSignedBy,
  readPublicKey,
  readVantageHeaders,
  VANTAGE_CLOCK_MS,
  type VantageProof,
} from '../../process/vantage-signature.ts';
import type { Database } from '../../store/postgres/database.ts';
import { listVantages, useNonce } from '../../store/vantage/vantages.ts';
import { Problem, unavailable } from '../answers/problem.ts';
import { MemoryWindows } from './memory-windows.ts';

/** A request whose headers have the right form, of a vantage that there is. Its signature is not verified yet. */
export interface ClaimedVantage {
  readonly proof: VantageProof;
  readonly publicKey: string;
  /** Its body takes no memory any more. */
  release(): void;
}

interface VantageLimits {
  /** Requests of one vantage in any 60 seconds. */
  readonly perMinute: number;
  /** Bodies that are received at a time before their signature is verified: of all, and of one address. */
  readonly bodies: number;
  readonly bodiesOfAddress: number;
  /** How long the keys are remembered: a vantage that is removed is refused after that. */
  readonly keysMs: number;
}

/** A vantage sends one answer for each job that it takes; all of them may come over one proxy. */
const LIMITS: VantageLimits = { perMinute: 3000, bodies: 200, bodiesOfAddress: 100, keysMs: 250 };

interface Signed {
  readonly method: string;
  /** Of the route: the same behind a proxy that puts something before it. */
  readonly path: string;
  readonly body: Uint8Array;
}

export class VantageCallers {
  readonly #db: Database;
  readonly #limits: VantageLimits;
  readonly #nowMs: () => number;
  readonly #calls: MemoryWindows;
  /** Bodies that are being received, by address. */
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

  /** Before the body is read. Call `release` when that is over, however it ends. */
  async claim(
    headers: Readonly<Record<string, string | string[] | undefined>>,
    address: string,
  ): Promise<ClaimedVantage | Problem> {
    const proof = readVantageHeaders(headers);
    if (proof === undefined)
      return unsigned('the headers x-vantage-name, -time, -nonce and -signature are needed');
    if (Math.abs(this.#nowMs() - proof.timeMs) > VANTAGE_CLOCK_MS)
      return unsigned('x-vantage-time: not within 60 seconds of our time');
    const publicKey = (await this.#loadKeys()).get(proof.name);
    if (publicKey === undefined) return unsigned(WRONG);
    const release = this.#receive(address);
    return release === undefined
      ? unavailable('too many requests at a time; try again', 1)
      : { proof, publicKey, release };
  }

  /** Its name. Each nonce counts once. */
  async verify({ proof, publicKey }: ClaimedVantage, signed: Signed): Promise<string | Problem> {
    const key = readPublicKey(publicKey);
    if (key === undefined || !isSignedBy(key, proof, signed, this.#nowMs())) return unsigned(WRONG);
    const limited = this.#count(proof.name);
    if (limited !== undefined) return limited;
    return (await useNonce(this.#db, proof.name, proof.nonce))
      ? proof.name
      : unsigned('x-vantage-nonce: used before');
  }

  /** Counted only once it is verified: nobody else uses up what a vantage may send. */
  #count(name: string): Problem | undefined {
    const { admitted, waitMs } = this.#calls.take(name);
    if (admitted) return undefined;
    const seconds = Math.max(1, Math.ceil(waitMs / 1000));
    return new Problem(429, 'rate limit exceeded', { headers: { 'Retry-After': String(seconds) } });
  }

  #receive(address: string): (() => void) | undefined {
    const { bodies, bodiesOfAddress } = this.#limits;
    const own = this.#receiving.get(address) ?? 0;
    const all = [...this.#receiving.values()].reduce((sum, count) => sum + count, 0);
    if (own >= bodiesOfAddress || all >= bodies) return undefined;
    this.#receiving.set(address, own + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = (this.#receiving.get(address) ?? 1) - 1;
      if (left > 0) this.#receiving.set(address, left);
      else this.#receiving.delete(address);
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
