// The parent of a simulated domain: the DS set and answers of each of its addresses, and its delegation.

import type { DsEvidence } from '../../../../src/checks/dnssec/ds-evidence.ts';
import type { Delegation } from '../../../../src/checks/dnssec/step.ts';
import type { Random } from '../../random/random-zones.ts';
import { HOUR, isWithin } from '../virtual-time.ts';
import type { KeyHistory } from './key-history.ts';
import { dsEvidence } from './quiet-domain.ts';
import type { Surroundings } from './simulated-surroundings.ts';

/** Interval between two delegation checks. */
const CHECKED = 12 * HOUR;

export class SimulatedParent {
  readonly #around: Surroundings;
  readonly #history: KeyHistory;
  readonly #random: Random;

  constructor(around: Surroundings, history: KeyHistory, random: Random) {
    this.#around = around;
    this.#history = history;
    this.#random = random;
  }

  /** `lags`: the lag of each address, instead of a random one. */
  enter(ds: readonly string[], at: number, lags: readonly number[] = []): void {
    const before = this.#history.entered.at(-1)?.shownFrom;
    const shownFrom = this.#around.addresses.map(({ lag }, i) =>
      Math.max(at + (lags[i] ?? this.#random() * lag), before?.[i] ?? 0),
    );
    this.#history.entered.push({ at, ds, shownFrom });
  }

  #shownAt(address: number, now: number): readonly string[] {
    const { entered } = this.#history;
    return entered.findLast(({ shownFrom }) => (shownFrom[address] as number) <= now)?.ds ?? [];
  }

  /** `at`: `now` by the clock of Postgres. */
  observe(now: number, at: number): DsEvidence {
    const shown = this.#around.addresses.flatMap(
      ({ isHidden, silent, lying }, i): (readonly string[] | undefined)[] => {
        if (isHidden) return [];
        if (isWithin(silent, now)) return [undefined];
        return [isWithin(lying, now) ? [] : this.#shownAt(i, now)];
      },
    );
    return dsEvidence(shown, this.#around.dsTtl, at);
  }

  delegation(now: number): Delegation {
    const { elsewhere, nsTtl } = this.#around;
    const checkedAt = now - (now % CHECKED);
    if (isWithin(elsewhere, checkedAt)) return { kind: 'not_ours' };
    const past = elsewhere.filter(({ to }) => to <= checkedAt);
    const backAt = Math.max(0, ...past.map(({ to }) => to));
    const since = backAt === 0 ? 0 : Math.ceil(backAt / CHECKED) * CHECKED;
    return { kind: 'ours', since, ttl: nsTtl, isFirst: past.length === 0 };
  }
}
