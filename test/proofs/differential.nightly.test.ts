// Compares Zonefleet's answers with those of NSD and Knot: every case of fixtures/answers, the zones of
// fixtures/zones, and random queries to random zones. Signed zones are signed by Zonefleet's signer or by BIND's
// (including opt-out and salts), and queried with and without DO, over UDP and TCP. rcode, AA, TC and the three
// sections must agree, unless an accepted difference explains why not.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeMessage } from '../../src/dns/message/message.ts';
import { foldCase, isWildcard, isWithin, type Name, parseName, printName } from '../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../src/dns/type-codes.ts';
import { parseZoneFile } from '../../src/dns/zone-file/parse-zone-file.ts';
import { printZoneFile } from '../../src/dns/zone-file/print-zone-file.ts';
import { buildZone } from '../../src/zone/build-zone.ts';
import type { Zone } from '../../src/zone/zone.ts';
import { explains } from '../support/answer/accepted-differences.ts';
import { describeObserved, isSame, type Observed, observe } from '../support/answer/observed-answer.ts';
import { type Asked, nodeOf, ourAnswer, queryFor } from '../support/answer/queries.ts';
import { Bogus } from '../support/dnssec/bogus.ts';
import { type AskedFor, judgeSignedReply } from '../support/dnssec/judge-signed-reply.ts';
import { signAsOurs } from '../support/dnssec/sign-as-ours.ts';
import { SIGNING_STYLES, signWith } from '../support/dnssec/signing-programs.ts';
import { keySettings } from '../support/dnssec/zone-keys.ts';
import {
  askMany,
  askTcp,
  installedPeers,
  isInstalled,
  type PeerName,
  startPeer,
  type ZoneText,
} from '../support/peers/peers.ts';
import {
  pick,
  type Random,
  type RandomZone,
  randomFrom,
  randomQuestion,
  randomZone,
} from '../support/random/random-zones.ts';
import { scale } from '../support/tests/scale.ts';
import { readAnswerCases } from '../support/zone/answer-cases.ts';
import { zoneOfRecords } from '../support/zone/sign-zone.ts';
import { recordsOf, zoneOf, zonesOf } from '../support/zone/zone-text.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/zones');

interface FixtureZone extends ZoneText {
  readonly file: string;
  readonly zone: Zone;
}

/**
 * `text` is printed from the records, so it has what Zonefleet serves, not what another program reads from the file.
 */
function readFixtureZones(): FixtureZone[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.zone'));
  return files.map((file) => {
    const include = (path: string) => readFileSync(join(FOLDER, path), 'utf8');
    const { origin, records, problems } = parseZoneFile(include(file), { file, include });
    if (problems[0] !== undefined) throw new Error(`${file}:${problems[0].line}: ${problems[0].message}`);
    const built = buildZone(origin, records);
    if (built.kind === 'refused') throw new Error(`${file}: ${built.problems[0]?.message}`);
    return { file, apex: printName(origin), text: printZoneFile(origin, records), zone: built.zone };
  });
}

const MAX_UDP_OCTETS = 1232;

interface CompareOptions {
  /** If true, all queries use TCP. */
  readonly tcp?: boolean;
  /** If only proofs differ: whether Zonefleet's whole answer proves its content. */
  readonly isProven?: (reply: Uint8Array, asked: { readonly name: Name; readonly type: number }) => boolean;
}

interface Outcome {
  readonly asked: number;
  readonly same: number;
  readonly unexplained: readonly string[];
}

async function compareWithPeer(
  peer: PeerName,
  zones: ReadonlyMap<Name, Zone>,
  texts: readonly ZoneText[],
  asked: readonly Asked[],
  { tcp = false, isProven }: CompareOptions = {},
): Promise<Outcome> {
  const node = nodeOf(zones);
  const server = await startPeer(peer, texts);
  try {
    const queries = asked.map((one) => queryFor(one));
    const replies = tcp ? await askEachTcp(server.port, queries) : await askMany(server.port, queries);
    const unexplained: string[] = [];
    let same = 0;
    for (const [index, one] of asked.entries()) {
      const query = queries[index] as Uint8Array;
      const reply = replies[index];
      const title = `${peer}: ${printName(one.name)} ${typeMnemonic(one.type)} edns=${one.udpPayloadSize ?? 'none'}${one.dnssecOk === true ? ' DO' : ''}${tcp ? ' TCP' : ''}`;
      if (reply === undefined) {
        unexplained.push(`${title}: no reply`);
        continue;
      }
      const ours = observe(ourAnswer(node, query, tcp ? 'tcp' : 'udp'));
      const theirs = observe(reply);
      if (isSame(ours, theirs)) {
        same++;
        continue;
      }
      const udpLimit = Math.min(Math.max(one.udpPayloadSize ?? 512, 512), MAX_UDP_OCTETS);
      const whole = ourAnswer(node, query, 'tcp');
      const complete = observe(whole);
      const theirComplete = ours.tc === theirs.tc ? undefined : observe(await askTcp(server.port, query));
      const about = { name: foldCase(one.name), type: one.type };
      const isExplained = explains({
        peer,
        zones,
        ...about,
        dnssecOk: one.dnssecOk === true && one.udpPayloadSize !== undefined,
        limit: tcp ? 65_535 : udpLimit,
        ours,
        theirs,
        complete,
        ...(theirComplete !== undefined && { theirComplete }),
      });
      const isOther = isSame(withoutProofs(complete), withoutProofs(theirComplete ?? theirs));
      if (!isExplained && !(isOther && isProven?.(whole, about)))
        unexplained.push(`${title}\nours\n${describeObserved(ours)}\ntheirs\n${describeObserved(theirs)}`);
    }
    return { asked: asked.length, same, unexplained };
  } finally {
    await server.stop();
  }
}

const IS_PROOF = / (RRSIG )?NSEC3? /;

/** Additional records are optional with DO, except for glue. */
function withoutProofs(seen: Observed): Observed {
  const authority = seen.authority.filter((line) => !IS_PROOF.test(line));
  return { ...seen, authority, additional: [], octets: 0 };
}

async function askEachTcp(port: number, queries: readonly Uint8Array[]): Promise<Uint8Array[]> {
  const replies: Uint8Array[] = [];
  for (const query of queries) replies.push(await askTcp(port, query));
  return replies;
}

function expectAgreement(outcomes: readonly Outcome[]): void {
  const asked = outcomes.reduce((sum, outcome) => sum + outcome.asked, 0);
  const unexplained = outcomes.flatMap((outcome) => outcome.unexplained);
  if (unexplained.length > 0) {
    expect.fail(
      `${unexplained.length} of ${asked} unexplained\n${unexplained.slice(0, Number(process.env.SHOW ?? 5)).join('\n\n')}`,
    );
  }
}

const SEED = Number(process.env.ZONEFLEET_SEED ?? 2);
const { present, missing } = installedPeers();
const perPeer = (count: number) => count / Math.max(1, present.length);
const QUESTIONS = perPeer(scale(20_000, 3000));
const SIGNED_QUESTIONS = perPeer(Number(process.env.ZONEFLEET_QUESTIONS ?? scale(1_000_000, 4000)));
const A_ROUND = scale(5000, 500);
const TCP_SHARE = 0.1;
const SIGNED_APEXES = ['r.test.', 's.test.', 'v.test.'];
/** Chains from one of the zones into another are compared without signatures. */
const OTHERS = ['other.invalid.'];

/** Otherwise the accepted differences would hide what is compared. */
function expectMostlySame(outcomes: readonly Outcome[], wanted: number, least: number): void {
  const asked = outcomes.reduce((sum, outcome) => sum + outcome.asked, 0);
  const same = outcomes.reduce((sum, outcome) => sum + outcome.same, 0);
  expect(asked).toBeGreaterThanOrEqual(wanted);
  expect(same / asked).toBeGreaterThan(least);
}

const STYLES = Object.values(keySettings()).flatMap((setting) =>
  (['nsec', 'nsec3'] as const).map((denial) => ({ setting, denial })),
);

interface SignedZoneText extends ZoneText {
  readonly zone: Zone;
}

/** Without DNAME at a wildcard, which servers may reject (RFC 6672 §3.3): Knot answers SERVFAIL below some. */
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
  // No DS without a zone cut, because BIND signs no such zone.
  const isFit = [...plain.zone.nodes.values()].every(({ sets }) => sets.has(TYPE.NS) || !sets.has(TYPE.DS));
  if (isFit && BIND_STYLES.length > 0 && random() < 0.5) {
    const { text } = await signWith(pick(random, BIND_STYLES), plain);
    return { apex, text, zone: zoneOfRecords(parseName(apex), recordsOf(text, apex)) };
  }
  const { text, records } = signAsOurs(pick(random, STYLES), plain);
  return { apex, text, zone: zoneOfRecords(parseName(apex), records) };
}

/** By the zone that has the name. The part of a chain in another zone is not evaluated. */
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

describe.skipIf(present.length === 0)(`answers agree with NSD and Knot${missing}`, () => {
  describe.each(present)('%s', (peer) => {
    it.each(readAnswerCases())('on the cases of fixtures/answers/$folder', {
      timeout: 60_000,
    }, async (folder) => {
      const zones = zonesOf(...folder.zones.map(({ apex, text }) => zoneOf(apex, text)));
      expectAgreement([await compareWithPeer(peer, zones, folder.zones, folder.cases)]);
    });

    it('on every record set of fixtures/zones, and names around them', {
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
        const count = Math.ceil(QUESTIONS / 4 / fixtures.length);
        return [
          ...all.slice(0, scale(all.length, 200)),
          ...repeat(count, () => randomQuestion(random, zone, names)),
        ];
      });
      const outcome = await compareWithPeer(
        peer,
        zonesOf(...fixtures.map(({ zone }) => zone)),
        fixtures,
        asked,
      );
      expectAgreement([outcome]);
      expectMostlySame([outcome], QUESTIONS / 4, 0.75);
    });

    it('on random queries to random zones', { timeout: scale(600_000, 120_000) }, async () => {
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
        const asked = repeat(Math.ceil(QUESTIONS / rounds), (index) => {
          const at = index % zones.length;
          return randomQuestion(random, (zones[at] as (typeof zones)[number]).zone, names[at] ?? []);
        });
        outcomes.push(await compareWithPeer(peer, zonesOf(...zones.map(({ zone }) => zone)), zones, asked));
      }
      expectAgreement(outcomes);
      expectMostlySame(outcomes, QUESTIONS, 0.75);
    });

    it('on random queries to random signed zones', async () => {
      const random = randomFrom(SEED);
      const outcomes: Outcome[] = [];
      for (let left = SIGNED_QUESTIONS; left > 0; ) {
        const zones: SignedZoneText[] = [];
        for (const apex of SIGNED_APEXES) zones.push(await signedZone(random, apex));
        const names = new Map(zones.map(({ zone }) => [zone, [...zone.nodes.keys()]] as const));
        const asked = Array.from({ length: Math.min(left, A_ROUND) }, () => {
          const { zone } = pick(random, zones);
          const drawn = randomQuestion(random, zone, names.get(zone) as Name[]);
          // NSEC at an alias differs, and truncated answers hide the reason. Plain zones have such queries.
          const question = drawn.type === TYPE.NSEC ? { ...drawn, type: TYPE.A } : drawn;
          return { ...question, dnssecOk: question.udpPayloadSize !== undefined && random() < 0.7 };
        });
        left -= asked.length;
        const built = zonesOf(...zones.map(({ zone }) => zone));
        const isProven = (reply: Uint8Array, question: AskedFor) => isProvenIn(built, reply, question);
        const cut = Math.round(asked.length * TCP_SHARE);
        outcomes.push(
          await compareWithPeer(peer, built, zones, asked.slice(cut), { isProven }),
          await compareWithPeer(peer, built, zones, asked.slice(0, cut), { tcp: true, isProven }),
        );
      }
      expectAgreement(outcomes);
      expectMostlySame(outcomes, SIGNED_QUESTIONS, 0.6);
    });
  });
});

function repeat<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
