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

export function addRegistrar(
  kind: RegistrarKind,
  random: Random,
  events: EventQueue,
  told: () => Told,
  entered: (ds: readonly string[], at: number) => void,
): void {
  let shown: readonly string[] = [];
  let previous: readonly string[] = [];
  let readUntil = 0;
  const between = (from: number, to: number) => from + random() * (to - from);

  function look(at: number): void {
    events.add(at, () => {
      if (kind !== 'never') act(at);
      const isCalm = at > CALM;
      const longest = kind === 'late' && !isCalm ? 40 * DAY : kind === 'reads CDS' ? DAY : 3 * DAY;
      look(at + between(longest / 20, longest));
    });
  }

  function act(at: number): void {
    const { add, isCertain, guessed, signedAt } = told();
    if (signedAt !== undefined && signedAt < readUntil) return;
    readUntil = signedAt ?? 0;
    const isCalm = at > CALM;
    if (kind === 'acts early' && !isCalm && add.length === 0 && guessed.length > 0 && random() < 0.2) {
      enter(
        guessed.flatMap((each) => each.slice(1, 2)),
        at,
      );
      return;
    }
    if (!isCertain) {
      if (kind === 'removes unasked' && !isCalm && random() < 0.05) enter([], at);
      return;
    }
    const wanted = add.flatMap((each) => digests(each));
    const isDone =
      add.every((each) => each.some((text) => shown.includes(text))) &&
      shown.every((text) => add.some((each) => each.includes(text)));
    if (!isDone) change(wanted, at, isCalm);
    else if (!isCalm) meddle(at);
  }

  function digests(each: readonly string[]): readonly string[] {
    const share = random();
    if (share < 0.85) return each.slice(1, 2);
    return share < 0.95 ? each.slice(1, 3) : each.slice(2, 3);
  }

  function change(wanted: readonly string[], at: number, isCalm: boolean): void {
    const then = (after: number, ds: readonly string[]) =>
      events.add(at + after, () => {
        if (at + after < CALM) enter(ds, at + after);
      });
    const before = shown;
    switch (isCalm ? 'soon' : kind) {
      case 'partial':
        enter(before.length === 0 ? wanted : [...new Set([...before, ...wanted])], at);
        if (before.length > 0) then(between(HOUR, 30 * DAY), wanted);
        return;
      case 'flapping':
        enter(wanted, at);
        for (let after = 0, i = 0; i < 6; i++) {
          after += between(HOUR / 10, 2 * DAY);
          then(after, i % 2 === 0 ? before : wanted);
        }
        return;
      case 'rolls back': {
        enter(wanted, at);
        const back = between(HOUR, 12 * DAY);
        if (random() < 0.7) then(back, before);
        return;
      }
      case 'adds foreign':
        enter(random() < 0.3 ? [FOREIGN] : [...wanted, FOREIGN], at);
        return;
      case 'types wrong':
        if (random() < 0.7) {
          enter(
            wanted.map((text) => `${text.slice(0, -1)}${text.endsWith('F') ? 'E' : 'F'}`),
            at,
          );
          return;
        }
        break;
      default:
    }
    enter(wanted, at);
  }

  /** Acts that were not requested, while everything is correct. */
  function meddle(at: number): void {
    if (kind === 'removes unasked' && random() < 0.05) enter([], at);
    if (kind === 'rolls back' && random() < 0.03) enter(previous, at);
    if (kind === 'adds foreign' && random() < 0.05) enter([...shown, FOREIGN], at);
    if (kind === 'flapping' && random() < 0.05) {
      const ds = shown;
      enter([], at);
      const after = between(HOUR / 10, DAY);
      events.add(at + after, () => enter(ds, at + after));
    }
  }

  function enter(ds: readonly string[], at: number): void {
    const sorted = [...new Set(ds)].sort();
    if (sorted.join() === shown.join()) return;
    previous = shown;
    shown = sorted;
    entered(sorted, at);
  }

  if (kind !== 'scripted') look(between(0, DAY));
}

const FOREIGN = '4711 13 2 00FF00FF';
