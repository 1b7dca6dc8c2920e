// Our answers against those of NSD and Knot, asked over UDP: every case of fixtures/answers, the zones of fixtures/zones,
// and random questions to random zones. rcode, AA, TC and the three sections must agree; where they do not, one of the
// accepted differences has to say why.

import { describe, expect, it } from 'vitest';
import { parseName, printName } from '../../src/dns/name.ts';
import { printRdata } from '../../src/dns/record/rdata.ts';
import { typeMnemonic } from '../../src/dns/type-codes.ts';
import type { Zone } from '../../src/zone/zone.ts';
import { ACCEPTED_DIFFERENCES } from '../support/answer/accepted-differences.ts';
import { compareWithPeer, expectAgreement, type Outcome } from '../support/answer/compare-with-peer.ts';
import { DebianSigner } from '../support/dnssec/debian-signers.ts';
import type { DenialStyle } from '../support/dnssec/denial-chain.ts';
import { signHalfTheCuts } from '../support/dnssec/sign-half-the-cuts.ts';
import { installedPeers, isInstalled, type ZoneText } from '../support/peers/peers.ts';
import { pick, type Random, randomFrom, randomQuestion, randomZone } from '../support/random/random-zones.ts';
import { proves, scale } from '../support/tests/scale.ts';
import { readAnswerCases } from '../support/zone/answer-cases.ts';
import { readFixtureZones } from '../support/zone/fixture-zones.ts';
import { zoneOfRecords } from '../support/zone/sign-zone.ts';
import { recordsOf, zoneOf, zonesOf } from '../support/zone/zone-text.ts';

const SEED = Number(process.env.ZONEFLEET_SEED ?? 2);
const { present, missing } = installedPeers();

const accepted = new Map<string, number>();

const SIGNER = 'dnssec-signzone';
const SIGNED_APEX = 'r.test.';
const NSEC3 = { kind: 'nsec3', iterations: 0, salt: new Uint8Array(), optOut: false } as const;
const SIGNED_STYLES: readonly (readonly [string, DenialStyle])[] = [
  ['NSEC', { kind: 'nsec' }],
  ['NSEC3', NSEC3],
  ['NSEC3 with salt and 50 iterations', { ...NSEC3, salt: Uint8Array.of(0xab, 0xcd), iterations: 50 }],
  ['NSEC3 with opt-out', { ...NSEC3, optOut: true }],
];

function signedZoneText(
  signer: DebianSigner,
  random: Random,
  denial: DenialStyle,
): ZoneText & { zone: Zone } {
  const apex = parseName(SIGNED_APEX);
  const { text } = randomZone(random, SIGNED_APEX, scale(80, 40), ['other.test.']);
  const records = signer.sign(signHalfTheCuts(random, apex, recordsOf(text, SIGNED_APEX)), denial);
  const lines = records.map(
    ({ owner, type, ttl, rdata }) =>
      `${printName(owner)} ${ttl} IN ${typeMnemonic(type)} ${printRdata(type, rdata)}`,
  );
  return { apex: SIGNED_APEX, text: lines.join('\n'), zone: zoneOfRecords(apex, records) };
}

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

  // In full only: signatures, and so what servers leave out around opt-out, are others each time. In CI `signed/signed-peers`
  // compares signed zones, where a validator decides between proofs that differ.
  describe.each(proves ? present : [])('%s, of zones that others signed', (peer) => {
    it.skipIf(!isInstalled(SIGNER)).each(SIGNED_STYLES)(
      `with %s${isInstalled(SIGNER) ? '' : ` (skipped: needs ${SIGNER})`}`,
      {
        timeout: scale(600_000, 120_000),
      },
      async (_, denial) => {
        const random = randomFrom(SEED);
        const signer = new DebianSigner(SIGNER, SIGNED_APEX);
        const outcomes: Outcome[] = [];
        try {
          for (let round = 0; round < scale(20, 2); round++) {
            const signed = signedZoneText(signer, random, denial);
            const names = [...signed.zone.nodes.keys()];
            const asked = repeat(scale(1000, 250), () => ({
              ...randomQuestion(random, signed.zone, names),
              dnssecOk: random() < 0.8,
            }));
            outcomes.push(await compareWithPeer(accepted, peer, zonesOf(signed.zone), [signed], asked));
          }
        } finally {
          signer.remove();
        }
        expectAgreement(outcomes);
        expectMostlySame(outcomes);
        askedInAll += outcomes.reduce((sum, outcome) => sum + outcome.asked, 0);
      },
    );
  });

  it.skipIf(present.length < 2)('and no accepted difference is idle', () => {
    const idle = ACCEPTED_DIFFERENCES.filter(({ rule }) => !accepted.has(rule)).map(({ rule }) => rule);
    if (proves && process.env.ZONEFLEET_SEED === undefined) expect(idle).toEqual([]);
    console.log(`${askedInAll} questions; accepted differences:`);
    for (const [rule, count] of [...accepted].sort((a, b) => b[1] - a[1])) console.log(`  ${count} ${rule}`);
    expect(askedInAll).toBeGreaterThanOrEqual(scale(20_000, 3000));
  });
});

function repeat<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
