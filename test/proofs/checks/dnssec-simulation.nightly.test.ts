// Four hundred days of key machines in virtual time, with every fault of registrars, parents, nodes, workers, clocks and
// backups: no cache ever holds a DS set, a DNSKEY set and data by our doing that do not go together.

import { describe, expect, it } from 'vitest';
import { BROKEN_MACHINES, REAL } from '../../support/simulation/dnssec/broken-machines.ts';
import { type KeyTally, playStories, simulateKeys } from '../../support/simulation/dnssec/simulate-keys.ts';
import { REGISTRARS } from '../../support/simulation/dnssec/simulated-surroundings.ts';
import { scale } from '../../support/tests/scale.ts';

/** In full another world each time; reduced the same one. */
const SEED = Number(process.env.ZONEFLEET_SEED ?? scale(Math.floor(Math.random() * 2 ** 16), 1));
const DOMAINS = scale(10_000, 100);

/** Whose doing a bogus triple may have been: the registrar's. */
const CAUSES = [
  'came back after it was to be removed',
  'entered before it was asked for',
  'moved to servers of others with a DS',
  'only DS of others',
];

it(`${DOMAINS} domains for 400 days, seed ${SEED}`, () => {
  const tally = simulateKeys(SEED, DOMAINS, REAL, ({ violations }) => violations.length >= 10);
  expect(tally.violations).toEqual([]);
  expect(tally.unreached).toEqual([]);
  expect(CAUSES).toEqual(expect.arrayContaining([...tally.excused]));
  expect([...tally.registrars].sort()).toEqual([...REGISTRARS].sort());
  expect(tally.reached).toBeGreaterThan(DOMAINS * 0.85);
});

const isSeen = ({ violations }: KeyTally) => violations.length > 0;

it('in the hours that decide, nothing is bogus by our doing', () => {
  expect(playStories(REAL)).toEqual([]);
});

describe('it sees a broken rule', () => {
  it.each(BROKEN_MACHINES)('%s', (_, machine) => {
    expect(playStories(machine)).not.toEqual([]);
  });
});

/** Others need a course of events that chance takes too seldom. */
const SEEN_BY_CHANCE: ReadonlySet<string> = new Set([
  'a silent node counts at once as gone',
  'one node is enough',
  'no preflight is made',
  'caches forget data at once',
  'the zone is unsigned when no DS is asked for',
  'the old key goes when the DS of the new one is asked for',
  'the signatures of an algorithm go along with its key',
]);

describe('drawn domains see a broken rule too', () => {
  it.each(BROKEN_MACHINES.filter(([rule]) => SEEN_BY_CHANCE.has(rule)))('%s', (_, machine) => {
    const { violations } = simulateKeys(scale(SEED, 1), 3000, machine, isSeen);
    expect(violations).not.toEqual([]);
  });
});
