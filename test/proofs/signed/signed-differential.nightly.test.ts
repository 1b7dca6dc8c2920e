// Random zones that our signer or BIND's signed (opt-out and salts too), and random questions to them, with DO and without, of all sizes over UDP, and over TCP: our
// answers against those of NSD and Knot with the same zones.

import { describe, expect, it } from 'vitest';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { isWildcard, isWithin, type Name, parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { compareWithPeer, expectAgreement, type Outcome } from '../../support/answer/compare-with-peer.ts';
import { Bogus } from '../../support/dnssec/bogus.ts';
import { type AskedFor, judgeSignedReply } from '../../support/dnssec/judge-signed-reply.ts';
import { signAsOurs } from '../../support/dnssec/sign-as-ours.ts';
import { SIGNING_STYLES, signWith } from '../../support/dnssec/signing-programs.ts';
import { keySettings } from '../../support/dnssec/zone-keys.ts';
import { installedPeers, isInstalled, type ZoneText } from '../../support/peers/peers.ts';
import {
  pick,
  type Random,
  type RandomZone,
  randomFrom,
  randomQuestion,
  randomZone,
} from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { recordsOf, zonesOf } from '../../support/zone/zone-text.ts';

const SEED = Number(process.env.ZONEFLEET_SEED ?? 20_261_123);
/** Of all peers. */
const QUESTIONS = Number(process.env.ZONEFLEET_QUESTIONS ?? scale(1_000_000, 4000));
const A_ROUND = scale(5000, 500);
const TCP_SHARE = 0.1;
const APEXES = ['r.test.', 's.test.', 'v.test.'];
/** Elsewhere: chains from one of our zones into another are compared without signatures, in `differential`. */
const OTHERS = ['other.invalid.'];
const { present, missing } = installedPeers();

const STYLES = Object.values(keySettings()).flatMap((setting) =>
  (['nsec', 'nsec3'] as const).map((denial) => ({ setting, denial })),
);

interface SignedZoneText extends ZoneText {
  readonly zone: Zone;
}

/** Without DNAME at a wildcard, which servers may refuse (RFC 6672 §3.3): Knot answers SERVFAIL below some. */
function drawZone(random: Random, apex: string): RandomZone {
  for (;;) {
    const drawn = randomZone(random, apex, 40, OTHERS);
    const nodes = [...drawn.zone.nodes.values()];
    if (!nodes.some(({ name, sets }) => isWildcard(name) && sets.has(TYPE.DNAME))) return drawn;
  }
}

const BIND_STYLES = isInstalled('dnssec-signzone')
  ? SIGNING_STYLES.filter(({ program }) => program === 'dnssec-signzone')
  : [];

async function signedZone(random: Random, apex: string): Promise<SignedZoneText> {
  const plain = drawZone(random, apex);
  // No DS where no cut is: BIND signs no such zone.
  const isFit = [...plain.zone.nodes.values()].every(({ sets }) => sets.has(TYPE.NS) || !sets.has(TYPE.DS));
  if (isFit && BIND_STYLES.length > 0 && random() < 0.5) {
    const { text } = await signWith(pick(random, BIND_STYLES), plain);
    return { apex, text, zone: zoneOfRecords(parseName(apex), recordsOf(text, apex)) };
  }
  const { text, records } = signAsOurs(pick(random, STYLES), plain);
  return { apex, text, zone: zoneOfRecords(parseName(apex), records) };
}

/** By the zone that has the name; what a chain into another one needs is not judged. */
function isProvenIn(zones: ReadonlyMap<Name, Zone>, reply: Uint8Array, asked: AskedFor): boolean {
  const apexes = [...zones.keys()].filter((apex) => isWithin(asked.name, apex));
  const apex = apexes.sort((a, b) => b.length - a.length)[0] as Name;
  const keys = zones.get(apex)?.nodes.get(apex)?.sets.get(TYPE.DNSKEY)?.rdata ?? [];
  try {
    judgeSignedReply(decodeMessage(reply), asked, { apex, keys, at: Math.floor(Date.now() / 1000) });
    return true;
  } catch (error) {
    if (error instanceof Bogus) return false;
    throw error;
  }
}

describe.skipIf(present.length === 0)(`signed zones${missing}`, () => {
  const accepted = new Map<string, number>();
  const sums = { asked: 0, same: 0 };

  it.each(present)('are answered as %s answers them', async (peer) => {
    const random = randomFrom(SEED);
    for (let left = QUESTIONS / present.length; left > 0; ) {
      const zones: SignedZoneText[] = [];
      for (const apex of APEXES) zones.push(await signedZone(random, apex));
      const names = new Map(zones.map(({ zone }) => [zone, [...zone.nodes.keys()]] as const));
      const asked = Array.from({ length: Math.min(left, A_ROUND) }, () => {
        const { zone } = pick(random, zones);
        const drawn = randomQuestion(random, zone, names.get(zone) as Name[]);
        // What NSEC at an alias gets differs, and cut answers hide why: `differential` has such questions.
        const question = drawn.type === TYPE.NSEC ? { ...drawn, type: TYPE.A } : drawn;
        return { ...question, dnssecOk: question.udpPayloadSize !== undefined && random() < 0.7 };
      });
      left -= asked.length;
      const built = zonesOf(...zones.map(({ zone }) => zone));
      const isProven = (reply: Uint8Array, question: AskedFor) => isProvenIn(built, reply, question);
      const cut = Math.round(asked.length * TCP_SHARE);
      const outcomes: Outcome[] = [
        await compareWithPeer(accepted, peer, built, zones, asked.slice(cut), { isProven }),
        await compareWithPeer(accepted, peer, built, zones, asked.slice(0, cut), { tcp: true, isProven }),
      ];
      expectAgreement(outcomes);
      for (const outcome of outcomes) {
        sums.asked += outcome.asked;
        sums.same += outcome.same;
      }
    }
  });

  it('nearly always without any difference', () => {
    expect(sums.asked).toBeGreaterThanOrEqual(QUESTIONS - 1);
    expect(sums.same / sums.asked).toBeGreaterThan(0.6);
  });
});
