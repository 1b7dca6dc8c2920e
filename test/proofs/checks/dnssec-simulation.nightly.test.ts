// Four hundred days of key machines in virtual time, with every fault of registrars, parents, nodes, workers, clocks and
// backups: no cache ever holds a DS set, a DNSKEY set and data by our doing that do not go together.

import { expect, it } from 'vitest';
import { type MachineRules, RULES } from '../../../src/checks/dnssec/rules.ts';
import { playStories, REAL, simulateKeys } from '../../support/simulation/dnssec/simulate-keys.ts';
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

it.each<[string, Partial<MachineRules>]>([
  ['there is no stay', { stayMs: 0 }],
  ['a silent node counts immediately as removed', { silentNodeMs: 3_600_000 }],
  ['backups have no age', { backupAfterMs: 0 }],
  ['our clocks and nodes are exact', { nodeSlackMs: 0 }],
  ['parents show everything immediately', { parentSlackMs: 0 }],
  ['servers of before are no longer asked', { oldServersMs: -2 * 86_400_000 }],
  ['nothing happens while nobody looks', { gapMs: 1000 * 86_400_000 }],
  ['a silent address of the parent counts immediately as removed', { silentAddressMs: 0 }],
])('something is bogus if %s', (_, rules) => {
  expect(playStories({ ...REAL, rules: { ...RULES, ...rules } })).not.toEqual([]);
});
