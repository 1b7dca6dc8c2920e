// Random zones that our signer signed, and random questions to them, with DO and without, of all sizes over UDP, and over TCP: our
// answers against those of NSD and Knot with the same zones.

import { describe, expect, it } from 'vitest';
import type { Name } from '../../../src/dns/name.ts';
import { parseName } from '../../../src/dns/name.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { compareWithPeer, expectAgreement, type Outcome } from '../../support/answer/compare-with-peer.ts';
import { signAsOurs } from '../../support/dnssec/sign-as-ours.ts';
import { keySettings } from '../../support/dnssec/zone-keys.ts';
import { installedPeers, type ZoneText } from '../../support/peers/peers.ts';
import {
  pick,
  type Random,
  randomFrom,
  randomQuestion,
  randomZone,
} from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { zonesOf } from '../../support/zone/zone-text.ts';

const SEED = Number(process.env.ZONEFLEET_SEED ?? 20_261_123);
/** Of all peers. */
const QUESTIONS = Number(process.env.ZONEFLEET_QUESTIONS ?? scale(1_000_000, 4000));
const A_ROUND = scale(5000, 500);
const TCP_SHARE = 0.1;
const APEXES = ['r.test.', 'c.r.test.', 's.test.', 'v.test.'];
const { present, missing } = installedPeers();

const STYLES = Object.values(keySettings()).flatMap((setting) =>
  (['nsec', 'nsec3'] as const).map((denial) => ({ setting, denial })),
);

interface SignedZoneText extends ZoneText {
  readonly zone: Zone;
}

function signedZone(random: Random, apex: string): SignedZoneText {
  const others = APEXES.filter((other) => other !== apex);
  const plain = randomZone(random, apex, 40, others);
  const { text, records } = signAsOurs(pick(random, STYLES), plain);
  return { apex, text, zone: zoneOfRecords(parseName(apex), records) };
}

describe.skipIf(present.length === 0)(`zones of our signer${missing}`, () => {
  const accepted = new Map<string, number>();
  const sums = { asked: 0, same: 0 };

  it.each(present)('are answered as %s answers them', async (peer) => {
    const random = randomFrom(SEED);
    for (let left = QUESTIONS / present.length; left > 0; ) {
      const zones = APEXES.map((apex) => signedZone(random, apex));
      const names = new Map(zones.map(({ zone }) => [zone, [...zone.nodes.keys()]] as const));
      const asked = Array.from({ length: Math.min(left, A_ROUND) }, () => {
        const { zone } = pick(random, zones);
        const question = randomQuestion(random, zone, names.get(zone) as Name[]);
        return { ...question, dnssecOk: question.udpPayloadSize !== undefined && random() < 0.7 };
      });
      left -= asked.length;
      const built = zonesOf(...zones.map(({ zone }) => zone));
      const cut = Math.round(asked.length * TCP_SHARE);
      const outcomes: Outcome[] = [
        await compareWithPeer(accepted, peer, built, zones, asked.slice(cut)),
        await compareWithPeer(accepted, peer, built, zones, asked.slice(0, cut), { tcp: true }),
      ];
      expectAgreement(outcomes);
      for (const outcome of outcomes) {
        sums.asked += outcome.asked;
        sums.same += outcome.same;
      }
      if (sums.asked % (20 * A_ROUND) < A_ROUND) console.log(`${peer}: ${sums.asked} questions so far`);
    }
  });

  it('nearly always without any difference', () => {
    console.log(`${sums.asked} questions, ${sums.same} without a difference; accepted:`);
    for (const [rule, count] of [...accepted].sort((a, b) => b[1] - a[1])) console.log(`  ${count} ${rule}`);
    expect(sums.asked).toBeGreaterThanOrEqual(QUESTIONS - 1);
    expect(sums.same / sums.asked).toBeGreaterThan(0.6);
  });
});
