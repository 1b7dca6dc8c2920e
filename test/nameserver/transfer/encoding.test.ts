// The messages of a transfer have the records of the zone.

import { describe, expect, it } from 'vitest';
import { decodeMessage, type MessageRecord } from '../../../src/dns/message/message.ts';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { CLASS, TYPE } from '../../../src/dns/type-codes.ts';
import { ReaderSlot } from '../../../src/nameserver/image/image.ts';
import { EncodedZones } from '../../../src/nameserver/transfer/encoding/encoded-zones.ts';
import {
  type EncodedTransfer,
  TransferWriter,
} from '../../../src/nameserver/transfer/encoding/transfer-writer.ts';
import { recordsOfZone } from '../../../src/zone/records-of-zone.ts';
import {
  edgeMarkOf,
  isEdgeMark,
  isMark,
  markOf,
  type Zone,
  type ZoneRecord,
} from '../../../src/zone/zone.ts';
import { answeringNode } from '../../support/answer/test-node.ts';
import { pick, randomFrom, randomZone } from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { DENIAL_STYLES, signedRecords, zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { recordsOf, zoneOf } from '../../support/zone/zone-text.ts';

const SETTINGS = {
  nodeName: 'node-1',
  version: '1',
  cookieSecrets: [new Uint8Array(16)],
  rateLimit: undefined,
  amplificationLimit: undefined,
  tcpIdleTimeoutMs: 10_000,
};

function encodedZones(zone: Zone, now = { ms: 0 }) {
  const { image, writer } = answeringNode([zone], SETTINGS);
  return { zones: new EncodedZones(image, new ReaderSlot(image, 1), () => now.ms), writer, now };
}

function transferOf(zone: Zone): EncodedTransfer {
  return encodedZones(zone).zones.hold(zone.apex)!.transfer;
}

function recordsIn({ messages }: EncodedTransfer): MessageRecord[] {
  return messages.flatMap((octets) => decodeMessage(octets).answers);
}

const textOf = ({ owner, type, ttl, rdata }: ZoneRecord) =>
  `${Buffer.from(owner, 'latin1').toString('hex')} ${type} ${ttl} ${Buffer.from(rdata).toString('hex')}`;
const sorted = (records: Iterable<ZoneRecord>) => [...records].map(textOf).sort();

const seeds = (count: number) => Array.from({ length: count }, (_, i) => i);

describe('a whole zone', () => {
  it.each(
    seeds(scale(300, 5)),
  )('begins and ends with the SOA, and has every other record once (zone %i)', (seed) => {
    const random = randomFrom(seed);
    const apexText = pick(random, ['example.test.', '.', 'x.', 'a.b.c.example.', `${'l'.repeat(63)}.test.`]);
    const plain = [
      ...recordsOfZone(randomZone(random, apexText, pick(random, [5, 50, 400]), ['other.test.']).zone),
    ];
    const apex = parseName(apexText);
    const denial = pick(random, [undefined, ...DENIAL_STYLES]);
    const marked = plain.filter(({ owner, type }) => owner !== apex && type === TYPE.A);
    const stored = [
      ...(denial === undefined ? plain : signedRecords(apex, plain, denial)),
      ...marked.flatMap(({ owner }) => [markOf(owner), edgeMarkOf(owner)]),
    ];
    const transfer = transferOf(zoneOfRecords(apex, stored));
    const [first, ...others] = recordsIn(transfer);
    expect(first).toMatchObject({ owner: apex, type: TYPE.SOA, class: CLASS.IN });
    expect(others.at(-1)).toEqual(first);
    expect(sorted(others)).toEqual(sorted(stored.filter((record) => !isMark(record) && !isEdgeMark(record))));
    expect(transfer.records).toBe(others.length + 1);
    for (const { length } of transfer.messages) expect(length).toBeLessThanOrEqual(0x4000);
  });

  it('has the question in the first message only, and AA in each (RFC 5936 §2.2.1)', () => {
    const texts = Array.from({ length: 300 }, (_, i) => `t${i} TXT "${'x'.repeat(200)}"`).join('\n');
    const { messages } = transferOf(zoneOf('example.test.', `@ SOA ns1 host 1 2 3 4 5\n@ NS ns1\n${texts}`));
    const decoded = messages.map((octets) => decodeMessage(octets));
    expect(decoded.length).toBeGreaterThan(3);
    const question = { name: parseName('example.test.'), type: TYPE.AXFR, class: CLASS.IN };
    expect(decoded.map(({ questions }) => questions)).toEqual([
      [question],
      ...decoded.slice(1).map(() => []),
    ]);
    expect(decoded.every(({ qr, aa, tc, rcode }) => qr && aa && !tc && rcode === 0)).toBe(true);
  });

  it('is encoded again only if it has changed, or was not used for a minute', () => {
    const zone = zoneOf('example.test.', '@ SOA ns1 host 1 2 3 4 5\n@ NS ns1');
    const { zones, writer, now } = encodedZones(zone);
    const held = () => {
      const { transfer, release } = zones.hold(zone.apex)!;
      release();
      return transfer;
    };
    const first = held();
    now.ms = 59_000;
    expect(held()).toBe(first);
    writer.put(zone, { id: 0, version: 1, mark: 7 });
    const second = held();
    expect(second).not.toBe(first);
    now.ms = 120_000;
    zones.sweep();
    expect(held()).not.toBe(second);
  });
});

describe('written records', () => {
  const apex = parseName('example.test.');
  const write = (...records: ZoneRecord[]) => {
    const writer = new TransferWriter(apex);
    for (const record of records) writer.write(record);
    return writer.finish();
  };

  it('are the same after decoding', () => {
    const records = recordsOf(
      '@ SOA a b 1 2 3 4 5\nx A 192.0.2.1\nx TXT a\n@ MX 5 X.example.test.\n*.y NS z',
      'example.test.',
    );
    expect(recordsIn(write(...records)).map(textOf)).toEqual(records.map(textOf));
  });

  it('get a larger message if one of them needs it, up to the space for OPT and TSIG', () => {
    const long = (octets: number) => ({
      owner: 'x' as Name,
      type: 65280,
      ttl: 1,
      rdata: new Uint8Array(octets),
    });
    const owned = (octets: number) => ({ ...long(octets), owner: parseName('x.example.test.') });
    const lengths = write(owned(10), owned(60_000), owned(10)).messages.map(({ length }) => length > 0x4000);
    expect(lengths).toEqual([false, true, false]);
    expect(() => write(owned(65_000))).toThrow('does not fit');
  });
});
