import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../src/dns/message/message.ts';
import { RCODE } from '../../src/dns/message/rcodes.ts';
import { parseName, printName } from '../../src/dns/name.ts';
import { printRdata } from '../../src/dns/record/rdata.ts';
import { CLASS, TYPE, typeMnemonic } from '../../src/dns/type-codes.ts';
import { recordsOfZone } from '../../src/zone/records-of-zone.ts';
import { serialIn, withSerial } from '../../src/zone/serial.ts';
import { applyDifferences, touchedSets } from '../../src/zone/transfer/apply-difference.ts';
import {
  type Difference,
  type ExpectedTransfer,
  MAX_TRANSFER_OCTETS,
  TransferReader,
  type TransferResult,
} from '../../src/zone/transfer/read-transfer.ts';
import type { ZoneRecord } from '../../src/zone/zone.ts';
import { encodeMessage } from '../support/answer/encode-message.ts';
import { pick, type Random, randomFrom, randomZone } from '../support/random/random-zones.ts';
import { rowsOf } from '../support/tests/rows-of.ts';
import { scale } from '../support/tests/scale.ts';
import { reply } from '../support/world/zone-exchange.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const APEX = parseName('example.');
const EXPECTED: ExpectedTransfer = {
  apex: APEX,
  type: TYPE.AXFR,
  id: 7,
  serial: undefined,
  server: '192.0.2.1:53',
  maxRecords: 100_000,
  maxOctets: MAX_TRANSFER_OCTETS,
};
const IXFR = { ...EXPECTED, type: TYPE.IXFR };

function messageOf(records: readonly ZoneRecord[], type: number, change: Partial<Message> = {}): Uint8Array {
  const questions = [{ name: APEX, type, class: CLASS.IN }];
  const answers = records.map((record) => ({ ...record, class: CLASS.IN }));
  return encodeMessage(reply({ id: 7, aa: true, questions, answers, ...change }));
}

/** Encodes the records as a primary might: one per message, all in one, or anything between, with or without questions. */
function packaged(records: readonly ZoneRecord[], type: number, random: Random): Uint8Array[] {
  const most = pick(random, [1, 5, 60]);
  const messages: Uint8Array[] = [];
  for (let at = 0; at < records.length; ) {
    const count = 1 + Math.floor(random() * most);
    const change = at > 0 && random() < 0.5 ? { questions: [] } : {};
    messages.push(messageOf(records.slice(at, at + count), type, change));
    at += count;
  }
  return messages;
}

/** Returns the result and the number of messages that were read until then. */
function read(messages: readonly Uint8Array[], expected: ExpectedTransfer): TransferResult | undefined {
  const reader = new TransferReader(expected);
  for (const message of messages) {
    const result = reader.accept(message);
    if (result !== undefined) return result;
  }
  return undefined;
}

function textOf({ owner, type, ttl, rdata }: ZoneRecord): string {
  return `${printName(owner)} ${ttl} ${typeMnemonic(type)} ${printRdata(type, rdata)}`;
}

const textsOf = (records: Iterable<ZoneRecord>) => [...records].map(textOf).sort();

/** Returns a random version of the zone: the SOA first, with this serial. */
function versionOf(random: Random, serial: number): ZoneRecord[] {
  const { zone } = randomZone(random, 'example.', 30, []);
  const records = [...recordsOfZone(zone)].sort(
    (a, b) => Number(b.type === TYPE.SOA) - Number(a.type === TYPE.SOA),
  );
  const [soa] = records as [ZoneRecord];
  return [{ ...soa, rdata: withSerial(soa.rdata, serial) }, ...records.slice(1)];
}

/** Returns the records that one version lacks of another, the SOA first. */
function lacking(one: readonly ZoneRecord[], other: readonly ZoneRecord[]): ZoneRecord[] {
  const known = new Set(one.map(textOf));
  return other.filter((record) => record.type === TYPE.SOA || !known.has(textOf(record)));
}

const serials = fc.constantFrom([1, 2, 3], [0xffff_fffe, 0xffff_ffff, 4], [10, 11, 2 ** 31 + 9]);

describe('a transfer', () => {
  it('of any zone in any messages is read back', () => {
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom(TYPE.AXFR, TYPE.IXFR), (seed, type) => {
        const random = randomFrom(seed);
        const records = versionOf(random, 20);
        const foreign = recordsOf('outside.invalid. 60 A 192.0.2.1', '.');
        const sent = [records[0] as ZoneRecord, ...foreign, ...records.slice(1), records[0] as ZoneRecord];
        const serial = type === TYPE.IXFR ? 19 : pick(random, [undefined, 19, 20]);
        const result = read(packaged(sent, type, random), { ...EXPECTED, type, serial });
        expect(result).toMatchObject({ kind: 'zone', serial: 20, dropped: 1 });
        expect(result?.kind === 'zone' && textsOf(result.records)).toEqual(textsOf(records));
      }),
      { numRuns: scale(300, 6) },
    );
  });

  it('of differences in any messages is read and applied to the sets that it touches', () => {
    fc.assert(
      fc.property(fc.nat(), serials, (seed, [first, second, third]) => {
        const random = randomFrom(seed);
        const versions = [first, second, third].map((serial) => versionOf(random, serial as number));
        const [old, , latest] = versions as [ZoneRecord[], ZoneRecord[], ZoneRecord[]];
        const sent = [latest[0] as ZoneRecord];
        for (const [i, version] of versions.slice(1).entries()) {
          const before = versions[i] as ZoneRecord[];
          sent.push(...lacking(version, before), ...lacking(before, version));
        }
        sent.push(latest[0] as ZoneRecord);
        const result = read(packaged(sent, TYPE.IXFR, random), { ...IXFR, serial: first });
        if (result?.kind !== 'differences') throw new Error(JSON.stringify(result));
        expect(result.serial).toBe(third);
        expect(result.differences.map(({ serialAfter }) => serialAfter)).toEqual([second, third]);
        const touched = touchedSets(result.differences);
        const isTouched = ({ owner, type }: ZoneRecord) =>
          touched.some((set) => set.owner === owner && set.type === type);
        const applied = applyDifferences(old.filter(isTouched), result.differences);
        if (applied.kind !== 'applied') throw new Error(applied.message);
        const untouched = old.filter((record) => !isTouched(record));
        expect(textsOf([...untouched, ...applied.sets.flatMap(({ records }) => records)])).toEqual(
          textsOf(latest),
        );
      }),
      { numRuns: scale(300, 6) },
    );
  });

  it('never throws, for any octets', () => {
    const good = messageOf(recordsOf('@ SOA a b 1 2 3 4 5\n@ NS a\na A 192.0.2.1', 'example.'), TYPE.AXFR);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 6 }), (changes) => {
        const octets = Uint8Array.from(good);
        for (const [at, octet] of changes) octets[at] = octet;
        new TransferReader(EXPECTED).accept(octets);
      }),
      { numRuns: 2000 },
    );
  });
});

/** Records of the streams below. `S5` is the SOA with serial 5. */
function recordOf(word: string): ZoneRecord {
  const soa = (serial: string) => `@ SOA ns host ${serial} 2 3 4 5`;
  if (word.startsWith('TYPE'))
    return { owner: APEX, type: Number(word.slice(4)), ttl: 0, rdata: new Uint8Array() };
  const text = word.startsWith('S') ? soa(word.slice(1)) : (NAMED[word] as string);
  return recordsOf(text, 'example.')[0] as ZoneRecord;
}
const NAMED: Readonly<Record<string, string>> = {
  NS: '@ NS ns',
  A1: 'a A 192.0.2.1',
  A2: 'a A 192.0.2.2',
  upper: '@ SOA NS HOST 5 2 3 4 5',
  other: '@ SOA else host 5 2 3 4 5',
  lower: 'sub SOA ns host 5 2 3 4 5',
};

/** Messages are separated by `;`. */
const streamOf = (words: string, type: number, change: Partial<Message> = {}) =>
  words.split(';').map((message) => {
    const records = message.split(' ').filter((word) => word !== '');
    return messageOf(records.map(recordOf), type, change);
  });

describe('the reader', () => {
  // The copy has the serial 3.
  it.each(
    rowsOf(`
AXFR | S5 NS A1 S5         | zone 5: SOA NS A
AXFR | S5 NS; A1; upper    | zone 5: SOA NS A
AXFR | S3 NS; S3           | zone 3: SOA NS
AXFR | S5 NS               | (more)
IXFR | S3                  | current 3
IXFR | S3 NS               | current 3
IXFR | S5                  | (more)
IXFR | S5; NS A1; S5       | zone 5: SOA NS A
IXFR | S5 S5               | zone 5: SOA
IXFR | S5; S3; A1; S5; A2; S5         | differences 3-A+A 5
IXFR | S5 S3 A1 S4 S4 S5 A2 S5        | differences 3-A+ 4-+A 5
IXFR | S5 S3 S5 S5                    | differences 3-+ 5
AXFR | NS S5               | TRANSFER_INVALID a transfer that does not begin with the SOA
AXFR | S5 NS other         | TRANSFER_INVALID an SOA that differs from the first one
AXFR | S5 NS S6            | TRANSFER_INVALID an SOA that differs from the first one
AXFR | S5 NS lower S5      | TRANSFER_INVALID an SOA at sub.example.
AXFR | S5 NS S5 A1         | TRANSFER_INVALID records after the final SOA
AXFR | S5 NS;; S5          | TRANSFER_INVALID a message without records
AXFR | S5 TYPE0 S5 | TRANSFER_INVALID a record of type TYPE0, which zones do not have
AXFR | S5 TYPE65535 S5 | TRANSFER_INVALID a record of type TYPE65535
AXFR | S5 TYPE255 S5 | TRANSFER_INVALID a record of type ANY
AXFR | S5 NS A1 A1 A1 A1   | TRANSFER_TOO_LARGE more than 4 records
AXFR | S2 NS A1 S2         | PRIMARY_SERIAL_BACK has the serial 2, which is older than 3
IXFR | S2                  | PRIMARY_SERIAL_BACK has the serial 2
IXFR | S5 S4 A1 S5 A2 S5   | TRANSFER_INVALID differences from the serial 4, not from 3
IXFR | S5 S3 A1 S4 S5      | TRANSFER_INVALID a difference from the serial 5 after the one to 4
IXFR | S5 S3 S4 S3 S5      | TRANSFER_INVALID a difference from the serial 3 after the one to 4
IXFR | S5 S3 S2            | TRANSFER_INVALID a difference from the serial 3 to 2
IXFR | S5 S3 A1 S3         | TRANSFER_INVALID a difference from the serial 3 to 3
IXFR | S5 S3 A1 other S5   | TRANSFER_INVALID an SOA that differs from the first one
IXFR | S5 S3 A1 S5 other   | TRANSFER_INVALID an SOA that differs from the first one
IXFR | S5 S3 A1 S5 S5 A2   | TRANSFER_INVALID records after the final SOA
`),
  )('reads %s: %s as %s', (form, words = '', expected = '') => {
    const type = form === 'IXFR' ? TYPE.IXFR : TYPE.AXFR;
    const maxRecords = expected.startsWith('TRANSFER_TOO_LARGE') ? 4 : 8;
    const result = read(streamOf(words, type), { ...EXPECTED, type, serial: 3, maxRecords });
    expect(summaryOf(result)).toContain(expected);
  });

  const bad: readonly [string, Partial<Message>, string][] = [
    ['another id', { id: 8 }, 'TRANSFER_INVALID'],
    ['a query', { qr: false }, 'TRANSFER_INVALID'],
    ['another opcode', { opcode: 4 }, 'TRANSFER_INVALID'],
    ['TC', { tc: true }, 'TRANSFER_INVALID a truncated message'],
    ['no question', { questions: [] }, 'TRANSFER_INVALID'],
    ['the type SOA', { questions: [{ name: APEX, type: TYPE.SOA, class: CLASS.IN }] }, 'TRANSFER_INVALID'],
    [
      'another zone',
      { questions: [{ name: parseName('com.'), type: TYPE.AXFR, class: CLASS.IN }] },
      'TRANSFER_INVALID',
    ],
    ['REFUSED', { rcode: RCODE.REFUSED, answers: [] }, 'PRIMARY_REFUSED answered REFUSED to AXFR'],
    ['NOTAUTH', { rcode: RCODE.NOTAUTH }, 'PRIMARY_REFUSED answered NOTAUTH to AXFR'],
    [
      'another class',
      { answers: [{ ...recordOf('S5'), class: CLASS.CH }] },
      'TRANSFER_INVALID a record of class 3',
    ],
    [
      'an address without octets',
      {
        answers: [
          { ...recordOf('S5'), class: 1 },
          { ...recordOf('A1'), class: 1, rdata: new Uint8Array() },
        ],
      },
      'TRANSFER_INVALID an unreadable message',
    ],
  ];
  it.each(bad)('refuses a first message with %s', (_, change, expected) => {
    expect(summaryOf(read(streamOf('S5 NS S5', TYPE.AXFR, change), EXPECTED))).toContain(expected);
  });

  it('accepts messages with only an OPT record, as padding, after the first SOA', () => {
    const edns = { udpPayloadSize: 1232, extendedRcode: 0, version: 0, dnssecOk: false, options: [] };
    const padding = messageOf([], TYPE.AXFR, { edns });
    const [first, ...rest] = streamOf('S5; NS; S5', TYPE.AXFR) as [Uint8Array, ...Uint8Array[]];
    expect(summaryOf(read([first, padding, padding, ...rest], EXPECTED))).toBe('zone 5: SOA NS');
    expect(summaryOf(read([padding, first, ...rest], EXPECTED))).toContain('a message without records');
    const endless = Array.from({ length: 100 }, () => padding);
    const limits = { ...EXPECTED, maxOctets: 100 * padding.length };
    expect(summaryOf(read([first, ...endless], limits))).toContain('TRANSFER_TOO_LARGE');
  });

  it('accepts capital letters in the question and in owners, and a TTL above 2^31-1 as 0', () => {
    const name = parseName('EXAMPLE.');
    const answers = [recordOf('S5'), { ...recordOf('NS'), owner: name, ttl: 2 ** 31 }, recordOf('S5')];
    const change = {
      questions: [{ name, type: TYPE.AXFR, class: CLASS.IN }],
      answers: answers.map((record) => ({ ...record, class: CLASS.IN })),
    };
    expect(read([messageOf([], TYPE.AXFR, change)], EXPECTED)).toMatchObject({
      kind: 'zone',
      records: [{ owner: APEX }, { owner: APEX, ttl: 0 }],
    });
  });

  it('counts octets after decompression, and records that it drops or ignores', () => {
    const long = parseName(`${'x'.repeat(60)}.${'y'.repeat(60)}.${'z'.repeat(60)}.invalid.`);
    const foreign = Array.from({ length: 1000 }, () => ({ ...recordOf('A1'), owner: long, class: CLASS.IN }));
    const sections = ['answers', 'authorities', 'additionals'] as const;
    for (const section of sections) {
      const change = { [section]: [{ ...recordOf('S5'), class: CLASS.IN }, ...foreign] };
      const octets = messageOf([recordOf('S5')], TYPE.AXFR, change);
      expect(octets.length).toBeLessThan(20_000);
      const limits = { ...EXPECTED, maxOctets: 200_000 };
      expect(summaryOf(read([octets], limits))).toContain('TRANSFER_TOO_LARGE');
      expect(read([octets], { ...limits, maxOctets: 300_000 })).toBeUndefined();
    }
  });
});

function summaryOf(result: TransferResult | undefined): string {
  if (result === undefined) return '(more)';
  if (result.kind === 'failed') {
    expect(result.message).toMatch(/^192\.0\.2\.1:53 (sent|answered|has) /);
    return `${result.code} ${result.message.replace(/^\S+ (sent )?/, '')}`;
  }
  if (result.kind === 'current') return `current ${result.serial}`;
  const types = (records: readonly ZoneRecord[]) => records.map(({ type }) => typeMnemonic(type));
  if (result.kind === 'zone') return `zone ${result.serial}: ${types(result.records).join(' ')}`;
  const parts = result.differences.map(({ serialBefore, removed, added }) => {
    expect([removed[0], added[0]].map((soa) => soa?.type)).toEqual([TYPE.SOA, TYPE.SOA]);
    return `${serialBefore}-${types(removed.slice(1))}+${types(added.slice(1))}`;
  });
  return `differences ${parts.join(' ')} ${result.serial}`;
}

describe('a difference', () => {
  const differenceOf = (removed: string, added: string): Difference => {
    const side = (text: string) => text.split(' / ').flatMap((line) => recordsOf(line, 'example.'));
    const [before, after] = [side(removed), side(added)];
    return {
      serialBefore: serialIn(recordOf('S3').rdata),
      serialAfter: 5,
      removed: [recordOf('S3'), ...before],
      added: [recordOf('S5'), ...after],
    };
  };

  it.each(
    rowsOf(`
a 60 A 192.0.2.1 / a 60 A 192.0.2.2 | a 60 A 192.0.2.1 |                  | a.example. 60 A 192.0.2.2
a 60 A 192.0.2.1                    | a 60 A 192.0.2.1 | a 90 A 192.0.2.1 | a.example. 90 A 192.0.2.1
a 60 A 192.0.2.1                    | a 70 A 192.0.2.1 |                  |
a 60 A 192.0.2.1                    |                  | a 30 A 192.0.2.2 | a.example. 30 A 192.0.2.1 / a.example. 30 A 192.0.2.2
a 60 CNAME Host.example.            | a 60 CNAME hOST.example. |          |
a 60 A 192.0.2.1                    | a 60 A 192.0.2.9 |                  | removes a missing record: a.example. A
b 60 A 192.0.2.1                    | a 60 A 192.0.2.1 |                  | removes a missing record: a.example. A
a 60 A 192.0.2.1                    |                  | a 60 A 192.0.2.1 | adds an existing record: a.example. A
a 60 TXT "T"                        | a 60 TXT "t"     |                  | removes a missing record: a.example. TXT
`),
  )('of "%s": without "%s", with "%s" leads to "%s"', (stored, removed = '', added = '', expected = '') => {
    const records = [recordOf('S3'), ...stored.split(' / ').flatMap((line) => recordsOf(line, 'example.'))];
    const applied = applyDifferences(records, [differenceOf(removed, added)]);
    const text =
      applied.kind === 'applied'
        ? textsOf(applied.sets.filter(({ type }) => type !== TYPE.SOA).flatMap((set) => set.records)).join(
            ' / ',
          )
        : applied.message.replace('the difference to serial 5 ', '');
    expect(text).toBe(expected);
  });

  it('does not apply to a copy with another SOA', () => {
    const applied = applyDifferences([recordOf('S4')], [differenceOf('', '')]);
    expect(applied).toEqual({
      kind: 'wrong_chain',
      message: 'the difference to serial 5 removes a missing record: example. SOA',
    });
  });

  it('keeps the TTL of each signature, which is that of the set that it covers', () => {
    const signature = (type: string, ttl: number) =>
      `a ${ttl} RRSIG ${type} 13 2 ${ttl} 20300101000000 20200101000000 1 example. AAAA`;
    const applied = applyDifferences(
      [recordOf('S3'), ...recordsOf(signature('A', 60), 'example.')],
      [differenceOf('', signature('TXT', 90))],
    );
    const records = applied.kind === 'applied' ? applied.sets.flatMap((set) => set.records) : [];
    expect(records.filter(({ type }) => type === TYPE.RRSIG).map(({ ttl }) => ttl)).toEqual([60, 90]);
  });
});
