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

export function simulateParent(around: Surroundings, history: KeyHistory, random: Random) {
  /** `lags`: the lag of each address, instead of a random one. */
  function enter(ds: readonly string[], at: number, lags: readonly number[] = []): void {
    const before = history.entered.at(-1)?.shownFrom;
    const shownFrom = around.addresses.map(({ lag }, i) =>
      Math.max(at + (lags[i] ?? random() * lag), before?.[i] ?? 0),
    );
    history.entered.push({ at, ds, shownFrom });
  }

  function shownAt(address: number, now: number): readonly string[] {
    const { entered } = history;
    return entered.findLast(({ shownFrom }) => (shownFrom[address] as number) <= now)?.ds ?? [];
  }

  /** `at`: `now` by the clock of Postgres. */
  function observe(now: number, at: number): DsEvidence {
    const shown = around.addresses.flatMap(
      ({ isHidden, silent, lying }, i): (readonly string[] | undefined)[] => {
        if (isHidden) return [];
        if (isWithin(silent, now)) return [undefined];
        return [isWithin(lying, now) ? [] : shownAt(i, now)];
      },
    );
    return dsEvidence(shown, around.dsTtl, at);
  }

  function delegation(now: number): Delegation {
    const { elsewhere, nsTtl } = around;
    const checkedAt = now - (now % CHECKED);
    if (isWithin(elsewhere, checkedAt)) return { kind: 'not_ours' };
    const past = elsewhere.filter(({ to }) => to <= checkedAt);
    const backAt = Math.max(0, ...past.map(({ to }) => to));
    const since = backAt === 0 ? 0 : Math.ceil(backAt / CHECKED) * CHECKED;
    return { kind: 'ours', since, ttl: nsTtl, isFirst: past.length === 0 };
  }

  return { enter, observe, delegation };
}
