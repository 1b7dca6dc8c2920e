// What is answered from an image against what findAnswer says of the zones themselves: every record in its order and with
// its octets, rcode and flags. test/nameserver/answer/section-writer shows what is left out over UDP.

import { expect, test } from 'vitest';
import { decodeMessage, type MessageRecord } from '../../src/dns/message/message.ts';
import { foldCase, type Name, printName } from '../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../src/dns/type-codes.ts';
import { type Answer, findAnswer } from '../../src/zone/find-answer.ts';
import { recordsOfZone } from '../../src/zone/records-of-zone.ts';
import { markOf, type RecordSet, type Zone } from '../../src/zone/zone.ts';
import { type Asked, nodeOf, ourAnswer, queryFor } from '../support/answer/queries.ts';
import type { AnsweringNode } from '../support/answer/test-node.ts';
import { pick, type Random, randomFrom, randomQuestion, randomZone } from '../support/random/random-zones.ts';
import { thinned } from '../support/random/signed-zones.ts';
import { scale } from '../support/tests/scale.ts';
import { DENIAL_STYLES, signedRecords, signedZone, zoneOfRecords } from '../support/zone/sign-zone.ts';
import { zoneOf, zonesOf } from '../support/zone/zone-text.ts';

const DNSSEC_TYPES = [TYPE.RRSIG, TYPE.NSEC, TYPE.NSEC3, TYPE.NSEC3PARAM, TYPE.DNSKEY];
const SEED = Number(process.env.ZONEFLEET_SEED ?? 11);

function linesOfRecords(records: readonly MessageRecord[]): string[] {
  return records.map(({ owner, type, ttl, rdata }) => line(owner, type, ttl, rdata));
}

function linesOfSets(sets: readonly RecordSet[]): string[] {
  return sets.flatMap(({ owner, type, ttl, rdata, signatures = [] }) => [
    ...rdata.map((one) => line(owner, type, ttl, one)),
    ...signatures.map((one) => line(owner, TYPE.RRSIG, ttl, one)),
  ]);
}

function line(owner: Name, type: number, ttl: number, rdata: Uint8Array): string {
  return `${printName(foldCase(owner))} ${ttl} ${typeMnemonic(type)} ${Buffer.from(rdata).toString('hex')}`;
}

/** Asks over TCP and compares; returns what was found. */
function check(node: AnsweringNode, zones: ReadonlyMap<Name, Zone>, asked: Asked): Answer {
  const dnssecOk = asked.dnssecOk === true && asked.udpPayloadSize !== undefined;
  const found = findAnswer(zones, foldCase(asked.name), asked.type, { dnssecOk });
  const size = `${asked.udpPayloadSize ?? 'no EDNS'}${dnssecOk ? ' DO' : ''}`;
  const title = `${printName(asked.name)} ${typeMnemonic(asked.type)} ${size}`;
  const message = decodeMessage(ourAnswer(node, queryFor(asked), 'tcp'));
  expect({
    title,
    rcode: message.rcode,
    aa: message.aa,
    tc: message.tc,
    answer: linesOfRecords(message.answers),
    authority: linesOfRecords(message.authorities),
    additional: linesOfRecords(message.additionals),
  }).toEqual({
    title,
    rcode: found.rcode,
    aa: found.authoritative,
    tc: false,
    answer: linesOfSets(found.answer),
    authority: linesOfSets(found.authority),
    additional: linesOfSets([...found.glue, ...found.additional]),
  });
  return found;
}

const APEXES = ['r.test.', 'c.r.test.', 'a.b.r.test.', 's.test.', 'www.e.c.r.test.', 'v.test.', '.'];
const KINDS = ['answer', 'nodata', 'nxdomain', 'referral', 'refused'];

/** Signed in every way, sometimes with records missing, as in a zone that was damaged or is still being signed. */
function signedAnyhow(random: Random, zone: Zone): Zone {
  if (random() < 0.1) return zone;
  const marks = [...zone.nodes.keys()].filter((name) => name !== zone.apex && random() < 0.05).map(markOf);
  const signed = signedRecords(zone.apex, [...recordsOfZone(zone), ...marks], pick(random, DENIAL_STYLES));
  return zoneOfRecords(zone.apex, random() < 0.7 ? signed : thinned(random, signed, DNSSEC_TYPES));
}

test.each([
  ['', false],
  ['signed ', true],
] as const)('random questions to random %szones', { timeout: 300_000 }, (_, isSigned) => {
  const random = randomFrom(SEED);
  const kinds = new Map<string, number>();
  let proofs = 0;
  for (let round = 0; round < scale(60, 6); round++) {
    const served = APEXES.slice(0, 1 + Math.floor(random() * APEXES.length));
    const zones = served.map((apex) => {
      const others = served.filter((other) => other !== apex);
      const size = isSigned ? 10 + Math.floor(random() * 50) : 20 + Math.floor(random() * 60);
      const { zone: plain } = randomZone(random, apex, size, others);
      const zone = isSigned ? signedAnyhow(random, plain) : plain;
      // Sometimes a zone that answers SOA and NS of its apex only.
      return random() < 0.05 ? { ...zone, marked: new Set([zone.apex]) } : zone;
    });
    const byApex = zonesOf(...zones);
    const node = nodeOf(byApex);
    const names = zones.map((zone) => [...zone.nodes.keys(), ...hashedOwners(zone)]);
    for (let i = 0; i < scale(4000, 700); i++) {
      const at = i % zones.length;
      const question = randomQuestion(random, zones[at] as Zone, names[at] as Name[]);
      const isOfDnssec = isSigned && random() < 0.15;
      const type = isOfDnssec ? pick(random, [...DNSSEC_TYPES, TYPE.CDS]) : question.type;
      const found = check(node, byApex, { ...question, type, dnssecOk: isSigned && random() < 0.7 });
      kinds.set(found.kind, (kinds.get(found.kind) ?? 0) + 1);
      if (found.authority.some((set) => set.type === TYPE.NSEC || set.type === TYPE.NSEC3)) proofs++;
    }
    if (isSigned) continue;
    for (const { apex, nodes } of zones) {
      for (const { name, sets } of nodes.values()) {
        if (random() < 0.7) continue;
        for (const type of [...sets.keys(), TYPE.ANY, TYPE.DS])
          check(node, byApex, { name, type, udpPayloadSize: pick(random, [undefined, 512, 1232]) });
      }
      check(node, byApex, { name: apex, type: TYPE.SOA, udpPayloadSize: undefined });
    }
  }
  for (const kind of KINDS) expect(kinds.get(kind), kind).toBeGreaterThan(50);
  if (isSigned) expect(proofs).toBeGreaterThan(500);
});

function hashedOwners({ denials }: Zone): Name[] {
  return denials?.kind === 'nsec3' ? denials.entries.map(({ set }) => set.owner) : [];
}

// A pointer reaches 16,383 octets far: behind that names are written out.
test('answers over TCP that are longer than pointers reach', () => {
  const long = 'l'.repeat(40);
  const many = (count: number, record: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => record(i));
  const zone = zoneOf(
    'big.test.',
    [
      '@ 60 SOA ns host 1 2 3 4 5',
      '@ 60 NS ns',
      'ns 60 A 192.0.2.1',
      ...many(500, (i) => `mx 60 MX ${i} ${long}${i}.Mixed`),
      ...many(300, (i) => `${long}${i}.mixed 60 A 192.0.2.${i % 256}`),
      ...many(500, (i) => `srv 60 SRV 1 2 ${i} ${long}${i}.mixed`),
      'alias 60 CNAME deep.mx',
      ...many(700, (i) => `deep.mx 60 MX ${i} ${long}${i}.mx`),
      ...many(500, (i) => `cut 60 NS ${long}${i}.cut`),
      ...many(500, (i) => `${long}${i}.cut 60 AAAA 2001:db8::${i}`),
      ...many(230, (i) => `long 60 TXT "${'x'.repeat(200)}${i}"`),
      `toalias 60 CNAME alias`,
      '*.wild 60 MX 1 mx.wild',
      ...many(400, (i) => `*.wild 60 MX ${i} ${long}${i}.wild`),
    ].join('\n'),
  );
  for (const served of [zone, ...DENIAL_STYLES.slice(0, 2).map((denial) => signedZone(zone, denial))]) {
    const zones = zonesOf(served);
    askLong(zones, nodeOf(zones));
  }
});

function askLong(zones: ReadonlyMap<Name, Zone>, node: AnsweringNode): void {
  for (const name of ['mx', 'srv', 'alias', 'toalias', 'cut', 'x.y.cut', 'long', 'x.wild', 'x.y.wild']) {
    for (const type of [TYPE.MX, TYPE.SRV, TYPE.TXT, TYPE.NS]) {
      for (const cased of [name, name.toUpperCase()]) {
        const wire = Buffer.from(
          `${cased}.big.test.`
            .split('.')
            .map((label) => String.fromCharCode(label.length) + label)
            .join(''),
        ).toString('latin1');
        check(node, zones, { name: wire as Name, type, udpPayloadSize: undefined });
        check(node, zones, { name: wire as Name, type, udpPayloadSize: 1232, dnssecOk: true });
      }
    }
  }
}
