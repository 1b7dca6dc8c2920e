// Four hundred days of key machines in virtual time, with every fault of registrars, parents, nodes, workers, clocks and
// backups: no cache ever holds a DS set, a DNSKEY set and data by our doing that do not go together.

import { describe, expect, it } from 'vitest';
import { BROKEN_MACHINES, REAL } from '../../support/simulation/dnssec/broken-machines.ts';
import { playStories, simulateKeys } from '../../support/simulation/dnssec/simulate-keys.ts';
import { scale } from '../../support/tests/scale.ts';

/** In full another world each time; reduced the same one. */
const SEED = Number(process.env.ZONEFLEET_SEED ?? scale(Math.floor(Math.random() * 2 ** 16), 1));
const DOMAINS = scale(10_000, 100);

it(`${DOMAINS} domains have no bogus answers by our doing for 400 days, seed ${SEED}`, () => {
  const { violations, unreached, reached } = simulateKeys(SEED, DOMAINS, REAL);
  expect([violations, unreached]).toEqual([[], []]);
  expect(reached).toBeGreaterThan(DOMAINS * 0.85);
});

it('in the hours that decide, nothing is bogus by our doing', () => {
  expect(playStories(REAL)).toEqual([]);
});

describe('it sees a broken rule', () => {
  it.each(BROKEN_MACHINES)('%s', (_, machine) => {
    expect(playStories(machine)).not.toEqual([]);
  });
});
