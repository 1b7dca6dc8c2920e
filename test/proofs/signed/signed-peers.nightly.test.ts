// What the reference answers from signed zones, against NSD and Knot with the same zones: random questions with DO over TCP.
// Response code, AA, and the sections of answer and authority must agree, signatures included, and nearly all proofs. NSD 4.6
// leaves out or adds some around wildcards that are empty non-terminals, asked for by name, or under opt-out; Knot 3.2 sends
// none for NSEC from a wildcard, and no proof that a wildcard is an empty non-terminal.

import { describe, expect, it } from 'vitest';
import { rcodeMnemonic } from '../../../src/dns/message/rcodes.ts';
import { foldCase, isWithin, parseName, printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { type Answer, findAnswer } from '../../../src/zone/find-answer.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { explain } from '../../support/answer/accepted-differences.ts';
import {
  describeObserved,
  isSame,
  linesOf,
  type Observed,
  observe,
} from '../../support/answer/observed-answer.ts';
import { queryFor } from '../../support/answer/queries.ts';
import { replyOf } from '../../support/dnssec/answer-records.ts';
import { Bogus } from '../../support/dnssec/bogus.ts';
import type { DenialStyle } from '../../support/dnssec/denial-chain.ts';
import { type AskedFor, judgeSignedReply } from '../../support/dnssec/judge-signed-reply.ts';
import { signHalfTheCuts } from '../../support/dnssec/sign-half-the-cuts.ts';
import { signRecords } from '../../support/dnssec/sign-records.ts';
import { makeKey } from '../../support/dnssec/signing.ts';
import {
  askTcp,
  installedPeers,
  type PeerName,
  startPeer,
  type ZoneText,
} from '../../support/peers/peers.ts';
import { randomFrom, randomQuestion, randomZone } from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { recordsOf, zoneOf, zonesOf } from '../../support/zone/zone-text.ts';

const NOW = Math.floor(Date.now() / 1000);
const TIME = { inception: NOW - 3600, expiration: NOW + 86_400 };
const KEY = makeKey(13);
const NSEC3 = { kind: 'nsec3', iterations: 0, salt: new Uint8Array(), optOut: false } as const;
const STYLES: readonly DenialStyle[] = [
  { kind: 'nsec' },
  NSEC3,
  { ...NSEC3, iterations: 3, salt: Uint8Array.of(0xab) },
  { ...NSEC3, optOut: true },
];
const { present, missing } = installedPeers();

interface SignedText extends ZoneText {
  readonly zone: Zone;
}

function signedZones(count: number): SignedText[] {
  const random = randomFrom(Number(process.env.ZONEFLEET_SEED ?? 31));
  return Array.from({ length: count }, (_, i) => {
    const apex = `z${i}.test.`;
    const { text } = randomZone(random, apex, 5 + Math.floor(random() * 50), ['other.test.']);
    const plain = signHalfTheCuts(random, parseName(apex), recordsOf(text, apex));
    const denial = STYLES[i % STYLES.length] as DenialStyle;
    const records = signRecords(parseName(apex), plain, { key: KEY, time: TIME, denial });
    const lines = records.map(
      ({ owner, type, ttl, rdata }) =>
        `${printName(owner)} ${ttl} IN ${typeMnemonic(type)} ${printRdata(type, rdata)}`,
    );
    const signed = lines.join('\n');
    return { apex, text: signed, zone: zoneOf(apex, signed) };
  });
}

/** Additional records are optional but for glue, and left out with DO. */
function withoutAdditional(seen: Observed): Observed {
  return { ...seen, additional: [], octets: 0 };
}

const IS_PROOF = / (NSEC|NSEC3|RRSIG NSEC|RRSIG NSEC3) /;

function withoutProofs(seen: Observed): Observed {
  return { ...seen, authority: seen.authority.filter((line) => !IS_PROOF.test(line)) };
}

/** RFC 8482 §4.1 leaves the choice of a set to the server, and Knot and NSD give all signatures of a name. */
function isChoice(type: number): boolean {
  return type === TYPE.ANY || type === TYPE.RRSIG;
}

interface Differing {
  readonly asked: number;
  readonly same: number;
  readonly unexplained: string[];
}

/** Where only the proofs differ, ours prove what the answer says: a validator judges them. */
function isProven(zone: Zone, asked: AskedFor, answer: Answer): boolean {
  try {
    judgeSignedReply(replyOf(answer), asked, { apex: zone.apex, keys: [KEY.rdata], at: NOW });
    return true;
  } catch (error) {
    if (error instanceof Bogus) return false;
    throw error;
  }
}

async function compare(peer: PeerName, texts: readonly SignedText[]): Promise<Differing> {
  const zones = zonesOf(...texts.map(({ zone }) => zone));
  const random = randomFrom(7);
  const server = await startPeer(peer, texts);
  const unexplained: string[] = [];
  let asked = 0;
  let same = 0;
  try {
    for (const { zone } of texts) {
      const names = [...zone.nodes.keys()];
      for (let i = 0; i < scale(1000, 150); i++) {
        const { name: written, type } = randomQuestion(random, zone, names);
        const name = foldCase(written);
        if (!isWithin(name, zone.apex) || isChoice(type)) continue;
        asked++;
        const answer = findAnswer(zones, name, type, { dnssecOk: true });
        const ours = observedOf(answer);
        const query = queryFor({ name, type, udpPayloadSize: 1232, dnssecOk: true });
        const theirs = withoutAdditional(observe(await askTcp(server.port, query)));
        if (isSame(ours, theirs)) {
          same++;
          continue;
        }
        const seen = {
          ours: withoutProofs(ours),
          theirs: withoutProofs(theirs),
          complete: withoutProofs(ours),
        };
        const isExplained = explain({ peer, zones, name, type, limit: 65_535, ...seen }) !== undefined;
        if (isExplained && isProven(zone, { name, type }, answer)) continue;
        const title = `${peer}: ${printName(name)} ${typeMnemonic(type)} ${zone.denials?.kind}`;
        unexplained.push(`${title}\nours\n${describeObserved(ours)}\ntheirs\n${describeObserved(theirs)}`);
      }
    }
  } finally {
    await server.stop();
  }
  return { asked, same, unexplained };
}

function observedOf(answer: Answer): Observed {
  const { rcode, aa, answers, authorities } = replyOf(answer);
  const sections = { answer: linesOf(answers), authority: linesOf(authorities), additional: [] };
  return { rcode: rcodeMnemonic(rcode), aa, tc: false, ...sections, octets: 0 };
}

describe.skipIf(present.length === 0)(`answers from signed zones agree with NSD and Knot${missing}`, () => {
  it.each<PeerName>(present)('%s', { timeout: 300_000 }, async (peer) => {
    const { asked, same, unexplained } = await compare(peer, signedZones(scale(40, 12)));
    if (unexplained.length > 0)
      expect.fail(`${unexplained.length} of ${asked} unexplained\n${unexplained.slice(0, 5).join('\n\n')}`);
    expect(asked).toBeGreaterThan(1000);
    expect(same / asked).toBeGreaterThan(0.95);
  });
});
