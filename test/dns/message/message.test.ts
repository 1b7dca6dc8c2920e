import dnsPacket from 'dns-packet';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WireError } from '../../../src/dns/errors.ts';
import { decodeMessage, type Message, type MessageRecord } from '../../../src/dns/message/message.ts';
import { encodeName, type Name, parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { encodeMessage } from '../../support/answer/encode-message.ts';
import { assemble } from '../../support/answer/packets.ts';
import { scale } from '../../support/tests/scale.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const EMPTY: Message = {
  id: 1,
  qr: true,
  opcode: 0,
  aa: false,
  tc: false,
  rd: false,
  ra: false,
  ad: false,
  cd: false,
  rcode: 0,
  questions: [],
  answers: [],
  authorities: [],
  additionals: [],
};

/** Names of few letters and both cases, so that compression has much to do. */
const name = fc
  .array(fc.constantFrom('a', 'A', 'b', 'bb', '\xc0', '\xe0', 'x'.repeat(63)), { maxLength: 3 })
  .map((labels) => {
    const wire = [...labels, 'Example'].map((label) => String.fromCharCode(label.length) + label).join('');
    return `${wire}\0` as Name;
  });

const rdata: fc.Arbitrary<{ type: number; rdata: Uint8Array }> = fc.oneof(
  fc.uint8Array({ minLength: 4, maxLength: 4 }).map((octets) => ({ type: TYPE.A, rdata: octets })),
  name.map((target) => ({ type: TYPE.NS, rdata: Uint8Array.from(encodeName(target)) })),
  name.map((target) => ({ type: TYPE.MX, rdata: Uint8Array.of(0, 5, ...encodeName(target)) })),
  name.map((target) => ({ type: TYPE.SRV, rdata: Uint8Array.of(0, 1, 0, 2, 0, 3, ...encodeName(target)) })),
  fc.tuple(name, name, fc.uint8Array({ minLength: 20, maxLength: 20 })).map(([mname, rname, timers]) => ({
    type: TYPE.SOA,
    rdata: Uint8Array.of(...encodeName(mname), ...encodeName(rname), ...timers),
  })),
  fc.uint8Array({ maxLength: 40 }).map((octets) => ({ type: 65280, rdata: octets })),
);

const record: fc.Arbitrary<MessageRecord> = fc
  .tuple(name, rdata, fc.nat(0xffff), fc.nat(0xffffffff))
  .map(([owner, typed, recordClass, ttl]) => ({ owner, ...typed, class: recordClass, ttl }));

const message: fc.Arbitrary<Message> = fc
  .record({
    id: fc.nat(0xffff),
    qr: fc.boolean(),
    opcode: fc.nat(15),
    aa: fc.boolean(),
    tc: fc.boolean(),
    rd: fc.boolean(),
    ra: fc.boolean(),
    ad: fc.boolean(),
    cd: fc.boolean(),
    rcode: fc.nat(0xfff),
    questions: fc.array(fc.record({ name, type: fc.nat(0xffff), class: fc.nat(0xffff) }), { maxLength: 2 }),
    answers: fc.array(record, { maxLength: 6 }),
    authorities: fc.array(record, { maxLength: 3 }),
    additionals: fc.array(record, { maxLength: 3 }),
    edns: fc.record({
      udpPayloadSize: fc.nat(0xffff),
      version: fc.nat(255),
      dnssecOk: fc.boolean(),
      options: fc.array(fc.record({ code: fc.nat(0xffff), value: fc.uint8Array({ maxLength: 20 }) }), {
        maxLength: 3,
      }),
    }),
  })
  .chain((whole) => {
    const { edns, ...plain } = whole;
    return fc.constantFrom<Message>(whole, { ...plain, rcode: whole.rcode & 15 });
  });

describe('the codec', () => {
  test('gives every message back as it was, case and compression included', () => {
    fc.assert(
      fc.property(message, (value) => {
        expect(decodeMessage(encodeMessage(value))).toEqual(value);
      }),
      { numRuns: scale(500, 100) },
    );
  });

  test('never exceeds the size it is given, and sets TC when records of answer or authority are missing', () => {
    fc.assert(
      fc.property(message, fc.integer({ min: 512, max: 1400 }), (value, octets) => {
        const plain = { ...value, tc: false };
        const bytes = encodeMessage(plain, octets);
        expect(bytes.length).toBeLessThanOrEqual(octets);
        const read = decodeMessage(bytes);
        const missing =
          read.answers.length < value.answers.length || read.authorities.length < value.authorities.length;
        expect(read.tc).toBe(missing);
        expect(read.edns).toEqual(value.edns);
        expect(read.answers).toEqual(value.answers.slice(0, read.answers.length));
      }),
      { numRuns: scale(500, 100) },
    );
  });

  test('throws nothing but WireError on mutated messages', () => {
    const mutation = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(message, mutation, fc.nat(), (value, octets, cut) => {
        const bytes = encodeMessage(value);
        for (const [at, octet] of octets) bytes[at % bytes.length] = octet;
        try {
          decodeMessage(bytes.subarray(0, cut % (bytes.length + 1)));
          decodeMessage(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(WireError);
        }
      }),
      { numRuns: scale(2000, 400) },
    );
  });
});

describe('dns-packet', () => {
  const answers = recordsOf(
    [
      'www.example.com. 300 CNAME web.example.com.',
      'web.example.com. 60 A 192.0.2.1',
      'web.example.com. 60 AAAA 2001:db8::1',
      'example.com. 3600 MX 10 mail.example.com.',
      'example.com. 3600 TXT "v=spf1 -all" "second"',
      'example.com. 3600 SOA ns1.example.com. hostmaster.example.com. 7 3600 600 86400 60',
      '_sip._tcp.example.com. 300 SRV 1 2 5060 sip.example.com.',
    ].join('\n'),
  ).map((one) => ({ ...one, class: 1 }));
  const value: Message = {
    ...EMPTY,
    aa: true,
    questions: [{ name: parseName('www.example.com.'), type: TYPE.A, class: 1 }],
    answers,
    edns: {
      udpPayloadSize: 1232,
      version: 0,
      dnssecOk: true,
      options: [{ code: 3, value: Uint8Array.of(97) }],
    },
  };

  test('reads what we write', () => {
    const read = dnsPacket.decode(Buffer.from(encodeMessage(value)));
    expect(read.flag_aa).toBe(true);
    expect(read.questions).toEqual([{ name: 'www.example.com', type: 'A', class: 'IN' }]);
    expect(read.answers?.map((one) => [one.name, one.type, 'data' in one ? one.data : undefined])).toEqual([
      ['www.example.com', 'CNAME', 'web.example.com'],
      ['web.example.com', 'A', '192.0.2.1'],
      ['web.example.com', 'AAAA', '2001:db8::1'],
      ['example.com', 'MX', { preference: 10, exchange: 'mail.example.com' }],
      ['example.com', 'TXT', [Buffer.from('v=spf1 -all'), Buffer.from('second')]],
      [
        'example.com',
        'SOA',
        {
          mname: 'ns1.example.com',
          rname: 'hostmaster.example.com',
          serial: 7,
          refresh: 3600,
          retry: 600,
          expire: 86400,
          minimum: 60,
        },
      ],
      ['_sip._tcp.example.com', 'SRV', { priority: 1, weight: 2, port: 5060, target: 'sip.example.com' }],
    ]);
    expect(read.additionals).toMatchObject([{ type: 'OPT', udpPayloadSize: 1232, flag_do: true }]);
  });

  test('writes what we read', () => {
    const bytes = dnsPacket.encode({
      type: 'query',
      id: 4711,
      flags: dnsPacket.RECURSION_DESIRED,
      questions: [{ type: 'AAAA', name: 'WWW.example.com' }],
      additionals: [
        {
          type: 'OPT',
          name: '.',
          udpPayloadSize: 4096,
          extendedRcode: 0,
          ednsVersion: 0,
          flags: 0,
          flag_do: false,
          options: [],
        },
      ],
    });
    expect(decodeMessage(bytes)).toEqual({
      ...EMPTY,
      id: 4711,
      qr: false,
      rd: true,
      questions: [{ name: parseName('WWW.example.com.'), type: TYPE.AAAA, class: 1 }],
      edns: { udpPayloadSize: 4096, version: 0, dnssecOk: false, options: [] },
    });
  });
});

describe('malformed messages', () => {
  test.each([
    ['an empty one', ''],
    ['a header cut short', '1234 0000 0000 0000 0000 00'],
    ['a missing question', '1234 0000 0001 0000 0000 0000'],
    ['a name that points to itself', '1234 0000 0001 0000 0000 0000 c00c 0001 0001'],
    ['a name that points forward', '1234 0000 0001 0000 0000 0000 c00e 0001 0001'],
    ['a name that runs past the end', '1234 0000 0001 0000 0000 0000 3f61'],
    [
      'rdata that is too short for its type',
      '1234 0000 0000 0001 0000 0000 00 0001 0001 00000000 0003 010203',
    ],
    ['rdata that runs past the end', '1234 0000 0000 0001 0000 0000 00 0001 0001 00000000 0005 01020304'],
    ['two OPT records', '1234 0000 0000 0000 0000 0002 OPT() OPT()'],
    ['OPT in the answer section', '1234 0000 0000 0001 0000 0000 OPT()'],
    ['OPT below a name', '1234 0000 0000 0000 0000 0001 "a." 0029 04d0 00000000 0000'],
    ['an option cut short', '1234 0000 0000 0000 0000 0001 00 0029 04d0 00000000 0003 000300'],
  ])('%s is a WireError', (_, packet) => {
    expect(() => decodeMessage(assemble(packet))).toThrow(WireError);
  });
});

test('a record set is written whole or not at all', () => {
  const set = Array.from({ length: 40 }, (_, i) => `big.example. 60 A 192.0.2.${i}`).join('\n');
  const answers = recordsOf(`first.example. 60 A 192.0.2.1\n${set}`).map((one) => ({ ...one, class: 1 }));
  const read = decodeMessage(encodeMessage({ ...EMPTY, answers }, 512));
  expect(read.answers).toHaveLength(1);
  expect(read.tc).toBe(true);
});
