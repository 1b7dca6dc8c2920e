// One account attacks the workers with domains under silent, slow, lying and NXNS-like parents, beside a hundred honest
// accounts, in virtual time: nobody waits long, and the addresses in the attacker's lists get a few packets and no more.

import { expect, it } from 'vitest';
import { attack, type Figures } from '../../support/simulation/simulated-shares.ts';
import { scale } from '../../support/tests/scale.ts';

const SEED = Number(process.env.ZONEFLEET_SEED ?? scale(Math.floor(Math.random() * 2 ** 31), 8));
const DOMAINS = scale(100_000, 1500);
const VICTIMS = scale(2000, 40);
const MINUTES = scale(30, 12);
const MINUTE_MS = 60_000;
/** A question is at most two packets over UDP. */
const PACKETS = 2;

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN;

function print({ first, activation, manual, victims, checks, later }: Figures): void {
  const seconds = (values: readonly number[]) =>
    [0.5, 0.99, 1]
      .map((share) => `p${share * 100} ${(percentile(values, share) / 1000).toFixed(2)} s`)
      .join(', ');
  const packets = [...victims.packets.values()].map(({ length }) => length);
  console.log(
    [
      `${DOMAINS} domains of one account, ${VICTIMS} addresses in their lists, ${MINUTES} minutes, seed ${SEED}: ${checks} checks, ${later} ended early`,
      `first checks of honest accounts: ${first.length}, ${seconds(first)}`,
      `activations: ${activation.length}, ${seconds(activation)}`,
      `requested checks: ${manual.length}, ${seconds(manual)}`,
      `packets to one victim: at most ${Math.max(...packets)}, at most ${mostAMinute(victims)} a minute`,
    ].join('\n'),
  );
}

/** The most packets that one address got within a minute. */
function mostAMinute({ packets }: Figures['victims']): number {
  let most = 0;
  for (const times of packets.values()) {
    const sorted = times.toSorted((a, b) => a - b);
    let from = 0;
    for (const [i, at] of sorted.entries()) {
      while (at - (sorted[from] as number) >= MINUTE_MS) from++;
      most = Math.max(most, i - from + 1);
    }
  }
  return most;
}

it(`${DOMAINS} domains of one account delay nobody, and are nobody’s weapon`, () => {
  const figures = attack({ seed: SEED, domains: DOMAINS, victims: VICTIMS, minutes: MINUTES });
  print(figures);
  const { first, activation, manual, victims } = figures;
  for (const values of [first, activation, manual]) expect(values.length).toBeGreaterThan(100);
  expect(percentile(first, 0.99)).toBeLessThanOrEqual(5000);
  expect(percentile(activation, 0.99)).toBeLessThanOrEqual(90_000);
  expect(percentile(manual, 0.99)).toBeLessThanOrEqual(8000);
  // three questions at the end of one minute, and three in the next
  expect(mostAMinute(victims)).toBeLessThanOrEqual(2 * 3 * PACKETS);
  const rarely = Math.ceil(MINUTES / 10);
  for (const { length } of victims.packets.values()) {
    expect(length).toBeLessThanOrEqual(PACKETS * (10 + 3 + rarely));
  }
});

it('without turns and slow slots the same attack delays everybody: the proof sees it', () => {
  const { first } = attack({ seed: 8, domains: 1500, victims: 40, minutes: 6, isFair: false });
  expect(percentile(first, 0.99)).toBeGreaterThan(5000);
});
