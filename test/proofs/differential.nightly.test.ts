// Zonefleet's answers over UDP against those of NSD and Knot: every case of fixtures/answers, the zones of fixtures/zones, and
// random questions to random zones (signed ones: signed/signed-differential). rcode, AA, TC and the three sections must agree,
// unless one of the accepted differences explains why not.

import { describe, expect, it } from 'vitest';
import { compareWithPeer, expectAgreement, type Outcome } from '../support/answer/compare-with-peer.ts';
import { installedPeers } from '../support/peers/peers.ts';
import { pick, randomFrom, randomQuestion, randomZone } from '../support/random/random-zones.ts';
import { scale } from '../support/tests/scale.ts';
import { readAnswerCases } from '../support/zone/answer-cases.ts';
import { readFixtureZones } from '../support/zone/fixture-zones.ts';
import { zoneOf, zonesOf } from '../support/zone/zone-text.ts';

const SEED = Number(process.env.ZONEFLEET_SEED ?? 2);
const { present, missing } = installedPeers();

const accepted = new Map<string, number>();

/** Else the accepted differences would hide what is compared. */
function expectMostlySame(outcomes: readonly Outcome[]): void {
  const asked = outcomes.reduce((sum, outcome) => sum + outcome.asked, 0);
  const same = outcomes.reduce((sum, outcome) => sum + outcome.same, 0);
  expect(same / asked).toBeGreaterThan(0.75);
}

describe.skipIf(present.length === 0)(`answers agree with NSD and Knot${missing}`, () => {
  const questions = scale(20_000, 3000) / Math.max(1, present.length); // of every peer
  let askedInAll = 0;

  describe.each(present)('%s', (peer) => {
    it.each(readAnswerCases())('on the cases of fixtures/answers/$folder', {
      timeout: 60_000,
    }, async (folder) => {
      const zones = zonesOf(...folder.zones.map(({ apex, text }) => zoneOf(apex, text)));
      expectAgreement([await compareWithPeer(accepted, peer, zones, folder.zones, folder.cases)]);
    });

    it('on every record set of fixtures/zones, and around them', {
      timeout: scale(600_000, 120_000),
    }, async () => {
      const random = randomFrom(SEED);
      const fixtures = readFixtureZones();
      const asked = fixtures.flatMap(({ zone }) => {
        const names = [...zone.nodes.keys()];
        const all = [...zone.nodes.values()].flatMap(({ name, sets }) =>
          [...sets.keys()].map((type) => ({
            name,
            type,
            udpPayloadSize: pick(random, [undefined, 512, 1232]),
          })),
        );
        const count = Math.ceil(questions / 4 / fixtures.length);
        return [
          ...all.slice(0, scale(all.length, 200)),
          ...repeat(count, () => randomQuestion(random, zone, names)),
        ];
      });
      const outcome = await compareWithPeer(
        accepted,
        peer,
        zonesOf(...fixtures.map(({ zone }) => zone)),
        fixtures,
        asked,
      );
      expectAgreement([outcome]);
      expectMostlySame([outcome]);
      askedInAll += outcome.asked;
    });

    it('on random questions to random zones', { timeout: scale(600_000, 120_000) }, async () => {
      const random = randomFrom(SEED);
      const rounds = scale(20, 3);
      const outcomes: Outcome[] = [];
      for (let round = 0; round < rounds; round++) {
        const apexes = ['r.test.', 'c.r.test.', 'a.b.r.test.', 's.test.', 'www.e.c.r.test.', 'v.test.'];
        const zones = apexes.map((apex) =>
          randomZone(
            random,
            apex,
            scale(80, 40),
            apexes.filter((other) => other !== apex),
          ),
        );
        const names = zones.map(({ zone }) => [...zone.nodes.keys()]);
        const asked = repeat(Math.ceil(questions / rounds), (index) => {
          const at = index % zones.length;
          return randomQuestion(random, (zones[at] as (typeof zones)[number]).zone, names[at] ?? []);
        });
        outcomes.push(
          await compareWithPeer(accepted, peer, zonesOf(...zones.map(({ zone }) => zone)), zones, asked),
        );
      }
      expectAgreement(outcomes);
      expectMostlySame(outcomes);
      askedInAll += outcomes.reduce((sum, outcome) => sum + outcome.asked, 0);
    });
  });

  it('with enough questions', () => {
    expect(askedInAll).toBeGreaterThanOrEqual(questions * present.length);
  });
});

function repeat<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
