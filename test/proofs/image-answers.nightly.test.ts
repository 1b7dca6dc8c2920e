// Answers over TCP that are longer than compression pointers reach, compared with the reference implementation.
// test/nameserver/answer/client-subnet compares answers to random queries.

import { expect, test } from 'vitest';
import { decodeMessage, type MessageRecord } from '../../src/dns/message/message.ts';
import { foldCase, type Name, parseName, printName } from '../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../src/dns/type-codes.ts';
import type { RecordSet, Zone } from '../../src/zone/zone.ts';
import { type Asked, nodeOf, ourAnswer, queryFor } from '../support/answer/queries.ts';
import type { AnsweringNode } from '../support/answer/test-node.ts';
import { findAnswer } from '../support/reference/find-answer.ts';
import { DENIAL_STYLES, signedZone } from '../support/zone/sign-zone.ts';
import { zoneOf, zonesOf } from '../support/zone/zone-text.ts';

type Line = Pick<MessageRecord, 'owner' | 'type' | 'ttl' | 'rdata'>;

const linesOf = (records: readonly Line[]): string[] =>
  records.map(({ owner, type, ttl, rdata }) => {
    return `${printName(foldCase(owner))} ${ttl} ${typeMnemonic(type)} ${Buffer.from(rdata).toString('hex')}`;
  });

const recordsIn = (sets: readonly RecordSet[]): Line[] =>
  sets.flatMap(({ owner, type, ttl, rdata, signatures = [] }) => [
    ...rdata.map((one) => ({ owner, type, ttl, rdata: one })),
    ...signatures.map((one) => ({ owner, type: TYPE.RRSIG, ttl, rdata: one })),
  ]);

function check(node: AnsweringNode, zones: ReadonlyMap<Name, Zone>, asked: Asked): void {
  const found = findAnswer(zones, foldCase(asked.name), asked.type, { dnssecOk: asked.dnssecOk === true });
  const message = decodeMessage(ourAnswer(node, queryFor(asked), 'tcp'));
  const sections = [message.answers, message.authorities, message.additionals].map(linesOf);
  const sets = [found.answer, found.authority, [...found.glue, ...found.additional]];
  const title = `${printName(asked.name)} ${typeMnemonic(asked.type)}`;
  expect([title, message.rcode, message.aa, message.tc, ...sections]).toEqual([
    ...[title, found.rcode, found.authoritative, false],
    ...sets.map((section) => linesOf(recordsIn(section))),
  ]);
}

// A pointer reaches 16,383 octets. Beyond that, names are written in full.
test('answers over TCP that exceed the reach of pointers', () => {
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
  for (const text of ['mx', 'srv', 'alias', 'toalias', 'cut', 'x.y.cut', 'long', 'x.wild', 'x.y.wild']) {
    for (const type of [TYPE.MX, TYPE.SRV, TYPE.TXT, TYPE.NS]) {
      for (const cased of [text, text.toUpperCase()]) {
        const name = parseName(`${cased}.big.test.`);
        check(node, zones, { name, type, udpPayloadSize: undefined });
        check(node, zones, { name, type, udpPayloadSize: 1232, dnssecOk: true });
      }
    }
  }
}
