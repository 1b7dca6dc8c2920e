// Four hundred days of key machines in virtual time, with every fault of registrars, parents, nodes, workers, clocks
// and backups. The fleet never causes a cache to hold an inconsistent DS set, DNSKEY set and data.

import { expect, it } from 'vitest';
import { type MachineRules, RULES } from '../../../src/checks/dnssec/rules.ts';
import { playStories, REAL, simulateKeys } from '../../support/simulation/dnssec/simulate-keys.ts';
import { scale } from '../../support/tests/scale.ts';

/** In full, a different world each time; reduced, always the same one. */
const SEED = Number(process.env.ZONEFLEET_SEED ?? scale(Math.floor(Math.random() * 2 ** 16), 1));
const DOMAINS = scale(10_000, 100);

it(`the fleet causes no bogus answers for ${DOMAINS} domains in 400 days, seed ${SEED}`, () => {
  const { violations, unreached, reached } = simulateKeys(SEED, DOMAINS, REAL);
  expect([violations, unreached]).toEqual([[], []]);
  expect(reached).toBeGreaterThan(DOMAINS * 0.85);
});

it('the fleet causes no bogus answers in the critical hours', () => {
  expect(playStories(REAL)).toEqual([]);
});

it.each<[string, Partial<MachineRules>]>([
  ['stayMs is 0', { stayMs: 0 }],
  ['a silent node counts immediately as removed', { silentNodeMs: 3_600_000 }],
  ['backups are assumed to be current', { backupAfterMs: 0 }],
  ['clocks and nodes of the fleet are assumed exact', { nodeSlackMs: 0 }],
  ['parents are assumed to publish immediately', { parentSlackMs: 0 }],
  ['former servers are no longer queried', { oldServersMs: -2 * 86_400_000 }],
  ['gaps between observations are ignored', { gapMs: 1000 * 86_400_000 }],
  ['a silent address of the parent counts immediately as removed', { silentAddressMs: 0 }],
])('answers become bogus if %s', (_, rules) => {
  expect(playStories({ ...REAL, rules: { ...RULES, ...rules } })).not.toEqual([]);
});
