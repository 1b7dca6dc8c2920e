// How a registrar, or an owner with a web form, follows the API and CDS: soon, late, partially, wrongly, or not at all.

import type { Random } from '../../random/random-zones.ts';
import { DAY, type EventQueue, HOUR } from '../virtual-time.ts';
import { CALM, type RegistrarKind } from './simulated-surroundings.ts';

export interface Told {
  /** The DS of each requested key, in the three digest types. */
  readonly add: readonly (readonly string[])[];
  /** All other DS records must be removed. */
  readonly isCertain: boolean;
  /** DS records that could be derived from the DNSKEY set, but were not requested. */
  readonly guessed: readonly (readonly string[])[];
  /** When the CDS set was signed. Older ones no longer count (RFC 7344 §6.2). */
  readonly signedAt?: number;
}

export class SimulatedRegistrar {
  ds: readonly string[] = [];
  #before: readonly string[] = [];
  #readUntil = 0;
  readonly #kind: RegistrarKind;
  readonly #random: Random;
  readonly #events: EventQueue;
  readonly #told: () => Told;
  readonly #entered: (ds: readonly string[], at: number) => void;

  constructor(
    kind: RegistrarKind,
    random: Random,
    events: EventQueue,
    told: () => Told,
    entered: (ds: readonly string[], at: number) => void,
  ) {
    this.#kind = kind;
    this.#random = random;
    this.#events = events;
    this.#told = told;
    this.#entered = entered;
    if (kind !== 'scripted') this.#look(this.#between(0, DAY));
  }

  #between(from: number, to: number): number {
    return from + this.#random() * (to - from);
  }

  #look(at: number): void {
    this.#events.add(at, () => {
      if (this.#kind !== 'never') this.#act(at);
      const isCalm = at > CALM;
      const longest =
        this.#kind === 'late' && !isCalm ? 40 * DAY : this.#kind === 'reads CDS' ? DAY : 3 * DAY;
      this.#look(at + this.#between(longest / 20, longest));
    });
  }

  #act(at: number): void {
    const { add, isCertain, guessed, signedAt } = this.#told();
    if (signedAt !== undefined && signedAt < this.#readUntil) return;
    this.#readUntil = signedAt ?? 0;
    const isCalm = at > CALM;
    if (
      this.#kind === 'acts early' &&
      !isCalm &&
      add.length === 0 &&
      guessed.length > 0 &&
      this.#random() < 0.2
    ) {
      this.#enter(
        guessed.flatMap((each) => each.slice(1, 2)),
        at,
      );
      return;
    }
    if (!isCertain) {
      if (this.#kind === 'removes unasked' && !isCalm && this.#random() < 0.05) this.#enter([], at);
      return;
    }
    const wanted = add.flatMap((each) => this.#digests(each));
    const isDone =
      add.every((each) => each.some((text) => this.ds.includes(text))) &&
      this.ds.every((text) => add.some((each) => each.includes(text)));
    if (!isDone) this.#change(wanted, at, isCalm);
    else if (!isCalm) this.#meddle(at);
  }

  #digests(each: readonly string[]): readonly string[] {
    const share = this.#random();
    if (share < 0.85) return each.slice(1, 2);
    return share < 0.95 ? each.slice(1, 3) : each.slice(2, 3);
  }

  #change(wanted: readonly string[], at: number, isCalm: boolean): void {
    const then = (after: number, ds: readonly string[]) =>
      this.#events.add(at + after, () => {
        if (at + after < CALM) this.#enter(ds, at + after);
      });
    const before = this.ds;
    switch (isCalm ? 'soon' : this.#kind) {
      case 'partial':
        this.#enter(before.length === 0 ? wanted : [...new Set([...before, ...wanted])], at);
        if (before.length > 0) then(this.#between(HOUR, 30 * DAY), wanted);
        return;
      case 'flapping':
        this.#enter(wanted, at);
        for (let after = 0, i = 0; i < 6; i++) {
          after += this.#between(HOUR / 10, 2 * DAY);
          then(after, i % 2 === 0 ? before : wanted);
        }
        return;
      case 'rolls back': {
        this.#enter(wanted, at);
        const back = this.#between(HOUR, 12 * DAY);
        if (this.#random() < 0.7) then(back, before);
        return;
      }
      case 'adds foreign':
        this.#enter(this.#random() < 0.3 ? [FOREIGN] : [...wanted, FOREIGN], at);
        return;
      case 'types wrong':
        if (this.#random() < 0.7) {
          this.#enter(
            wanted.map((text) => `${text.slice(0, -1)}${text.endsWith('F') ? 'E' : 'F'}`),
            at,
          );
          return;
        }
        break;
      default:
    }
    this.#enter(wanted, at);
  }

  /** Acts that were not requested, while everything is correct. */
  #meddle(at: number): void {
    if (this.#kind === 'removes unasked' && this.#random() < 0.05) this.#enter([], at);
    if (this.#kind === 'rolls back' && this.#random() < 0.03) this.#enter(this.#before, at);
    if (this.#kind === 'adds foreign' && this.#random() < 0.05) this.#enter([...this.ds, FOREIGN], at);
    if (this.#kind === 'flapping' && this.#random() < 0.05) {
      const { ds } = this;
      this.#enter([], at);
      const after = this.#between(HOUR / 10, DAY);
      this.#events.add(at + after, () => this.#enter(ds, at + after));
    }
  }

  #enter(ds: readonly string[], at: number): void {
    const sorted = [...new Set(ds)].sort();
    if (sorted.join() === this.ds.join()) return;
    this.#before = this.ds;
    this.ds = sorted;
    this.#entered(sorted, at);
  }
}

const FOREIGN = '4711 13 2 00FF00FF';
