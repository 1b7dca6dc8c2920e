// Passwords: Argon2id (RFC 9106) with 19 MiB and two passes. At most four calls run concurrently (fewer on fewer
// cores) and 32 wait, so that many concurrent sign-ins cannot exhaust the memory of the process or delay other calls.

import { availableParallelism } from 'node:os';
import { hash as argonHash, verify as argonVerify } from '@node-rs/argon2';
import { networkOf } from '../../process/http/connections.ts';

const OPTIONS = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };
/** The hash of an unknown password, so that an unknown email address takes as long as a wrong password. */
const NOBODYS_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$Yl3mC1Pp8hI0yxbUOrW1kVSW7TeG1kJpQNQ5d2sZ0aM';

export function hashPassword(password: string): Promise<string> {
  return argonHash(password.normalize('NFC'), OPTIONS);
}

/** If `hash` is null, there is no password: this takes the same time and returns false. */
export async function isPassword(hash: string | null, password: string): Promise<boolean> {
  const isRight = await argonVerify(hash ?? NOBODYS_HASH, password.normalize('NFC'));
  return isRight && hash !== null;
}

/** Each call takes 19 MiB, and one of the four threads that Node also uses for files and DNS lookups. */
const MOST_RUNNING = 4;
const WAITING = 32;
/** Maximum number of slots that one network may use, so that a burst from it does not keep others out. */
const PER_NETWORK = 8;

/** Slots for expensive calls. */
export class PasswordTurns {
  readonly #maxRunning: number;
  readonly #waiting: (() => void)[] = [];
  readonly #byNetwork = new Map<string, number>();
  #running = 0;

  /** One core is reserved for all other calls. */
  constructor(cores: number = availableParallelism()) {
    this.#maxRunning = Math.min(Math.max(cores - 1, 1), MOST_RUNNING);
  }

  hasPlace(address: string): boolean {
    const near = this.#byNetwork.get(networkOf(address)) ?? 0;
    return near < PER_NETWORK && this.#waiting.length < WAITING;
  }

  /** Returns undefined immediately if there is no free slot. */
  async run<T extends object>(address: string, work: () => Promise<T>): Promise<T | undefined> {
    if (!this.hasPlace(address)) return undefined;
    const network = networkOf(address);
    const near = this.#byNetwork.get(network) ?? 0;
    this.#byNetwork.set(network, near + 1);
    try {
      if (this.#running >= this.#maxRunning) await new Promise<void>((go) => this.#waiting.push(go));
      else this.#running++;
      try {
        return await work();
      } finally {
        const next = this.#waiting.shift();
        if (next === undefined) this.#running--;
        else next(); // takes over this slot
      }
    } finally {
      const left = (this.#byNetwork.get(network) as number) - 1;
      if (left === 0) this.#byNetwork.delete(network);
      else this.#byNetwork.set(network, left);
    }
  }
}
