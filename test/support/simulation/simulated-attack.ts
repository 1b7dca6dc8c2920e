// Parents that an attacker chooses: what a check under them asks, how long each question takes, and the packets that reach
// the addresses in their name server lists. The limits are the real ones.

import { type AddressMemory, afterTrial, judgeTrial } from '../../../src/checks/shares/silence.ts';
import { Silences } from '../../../src/resolver/state/silences.ts';
import type { Random } from '../random/random-zones.ts';

/** How long a question to an address that is silent takes, with its repetition, and how many packets it is. */
const SILENT_MS = 6000;
const PACKETS = 2;
/** How long a check waits for the question that another one has open. */
const LONGEST_WAIT_MS = 7000;
const PARENT_ADDRESSES = 6;

export type Kind = 'honest' | 'silent' | 'slow' | 'lying' | 'nxns';

export interface Target {
  readonly kind: Kind;
  /** The name of the parent. */
  readonly parent: string;
  /** The addresses of its servers; for `nxns` those of the names that it refers to. */
  readonly addresses: readonly number[];
}

/** A step of a check: how long it waits, and what to do when it is over or given up. */
interface Step {
  readonly waitMs: number;
  end(at: number, isGivenUp: boolean): void;
}

/** The addresses of the attacker's lists: nobody there answers, and all are the victims'. */
export class Victims {
  readonly #memory = new Map<number, AddressMemory>();
  readonly #openUntil = new Map<number, number>();
  /** When packets reached each address. */
  readonly packets = new Map<number, number[]>();

  /** How long a question to the address takes now; undefined: it is barred. */
  ask(address: number, at: number): Step | undefined {
    const trial = judgeTrial(this.#memory.get(address), at);
    if (trial.kind === 'wait') {
      const open = (this.#openUntil.get(address) ?? 0) - at;
      return open > 0 ? { waitMs: Math.min(open, LONGEST_WAIT_MS), end: () => {} } : undefined;
    }
    if (trial.kind !== 'go') throw new Error('a victim never answers');
    this.#memory.set(address, trial.memory);
    this.#openUntil.set(address, at + SILENT_MS);
    const seen = this.packets.get(address) ?? [];
    this.packets.set(address, seen);
    seen.push(at);
    return {
      waitMs: SILENT_MS,
      end: (over) => {
        if (over - at > SILENT_MS / PACKETS) seen.push(at + SILENT_MS / PACKETS);
        this.#memory.set(address, afterTrial(this.#memory.get(address), false, over));
        this.#openUntil.delete(address);
      },
    };
  }
}

/** One check, as a row of rounds; each asks several addresses at once. */
export class Observation {
  readonly #target: Target;
  readonly #victims: Victims;
  readonly #silences: Silences;
  readonly #random: Random;
  #asked = 0;
  #wasAsked = false;

  constructor(target: Target, victims: Victims, silences: Silences, random: Random) {
    this.#target = target;
    this.#victims = victims;
    this.#silences = silences;
    this.#random = random;
  }

  /** Undefined: the check is over. */
  next(at: number, fresh: boolean): Step | undefined {
    const { kind, parent, addresses } = this.#target;
    const round = this.#asked;
    switch (kind) {
      case 'honest':
        this.#asked += 2;
        return round >= 2 ? undefined : answered(20 + 180 * this.#random());
      case 'slow': // each of the servers answers just in time
        this.#asked += 2;
        return round >= PARENT_ADDRESSES ? undefined : answered(2900);
      case 'lying': // they contradict each other, so all are asked
        this.#asked += 3;
        return round >= PARENT_ADDRESSES ? undefined : answered(50);
      case 'silent':
      case 'nxns': {
        if (round === 0 && !fresh && this.#silences.isSilent(parent)) return undefined;
        const wanted = addresses.slice(round, round + (round === 0 ? 2 : PARENT_ADDRESSES));
        if (wanted.length === 0) {
          if (this.#wasAsked) this.#silences.noteSilence(parent);
          return undefined;
        }
        this.#asked += wanted.length;
        const steps = wanted.flatMap((address) => this.#victims.ask(address, at) ?? []);
        if (steps.length > 0) this.#wasAsked = true;
        return {
          waitMs: Math.max(0, ...steps.map(({ waitMs }) => waitMs)),
          end(over, isGivenUp) {
            for (const step of steps) step.end(over, isGivenUp);
          },
        };
      }
      default:
        return kind satisfies never;
    }
  }
}

function answered(waitMs: number): Step {
  return { waitMs, end: () => {} };
}

/** The attacker's domains under parents of every kind; many lists name the same addresses. */
export function attackTargets(random: Random, domains: number, victims: number): Target[] {
  const kinds = ['silent', 'silent', 'slow', 'lying', 'nxns'] as const;
  return Array.from({ length: domains }, (_, i) => {
    const kind = kinds[i % kinds.length] as Kind;
    const count = kind === 'nxns' ? 30 : PARENT_ADDRESSES;
    const addresses = Array.from({ length: count }, () => Math.floor(random() * victims));
    // A third of the domains have a parent of their own.
    return { kind, parent: `p${i % 3 === 0 ? i : i % 50}`, addresses: [...new Set(addresses)] };
  });
}

export function makeSilences(clock: { readonly now: number }): Silences {
  return new Silences(() => clock.now);
}
