import dnsPacket from 'dns-packet';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WireError } from '../../src/dns/errors.ts';
import { decodeMessage, type Message, type MessageRecord } from '../../src/dns/message/message.ts';
import { RCODE, rcodeMnemonic } from '../../src/dns/message/rcodes.ts';
import { encodeName, type Name, parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { encodeMessage } from '../support/answer/encode-message.ts';
import { assemble } from '../support/answer/packets.ts';
import { rowsOf } from '../support/tests/rows-of.ts';
import { scale } from '../support/tests/scale.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const FLAGS = ['qr', 'aa', 'tc', 'rd', 'ra', 'ad', 'cd'] as const;
type Flags = Record<(typeof FLAGS)[number], boolean>;
const NO_FLAGS = Object.fromEntries(FLAGS.map((flag) => [flag, false])) as Flags;
const EMPTY: Message = {
  ...NO_FLAGS,
  id: 1,
  opcode: 0,
  rcode: 0,
  questions: [],
  answers: [],
  authorities: [],
  additionals: [],
};

/** Names of few letters and both cases, so that compression is frequent. */
const name = fc
  .array(fc.constantFrom('a', 'A', 'b', 'bb', '\xc0', '\xe0', 'x'.repeat(63)), { maxLength: 3 })
  .map((labels) => {
    const wire = [...labels, 'Example'].map((label) => String.fromCharCode(label.length) + label).join('');
    return `${wire}\0` as Name;
  });

/** Rdata with these octets and names, in this order. */
const rdataOf = (type: number, ...parts: (number | typeof name)[]) =>
  fc
    .tuple(
      ...parts.map((part) =>
        typeof part === 'number'
          ? fc.uint8Array({ minLength: part, maxLength: part })
          : part.map((target) => encodeName(target)),
      ),
    )
    .map((octets) => ({ type, rdata: Uint8Array.from(Buffer.concat(octets)) }));
const rdata = fc.oneof(
  rdataOf(TYPE.A, 4),
  rdataOf(TYPE.NS, name),
  rdataOf(TYPE.MX, 2, name),
  rdataOf(TYPE.SRV, 6, name),
  rdataOf(TYPE.SOA, name, name, 20),
  fc.uint8Array({ maxLength: 40 }).map((octets) => ({ type: 65280, rdata: octets })),
);

const record: fc.Arbitrary<MessageRecord> = fc
  .tuple(name, rdata, fc.nat(0xffff), fc.nat(0xffffffff))
  .map(([owner, typed, recordClass, ttl]) => ({ owner, ...typed, class: recordClass, ttl }));
const option = fc.record({ code: fc.nat(0xffff), value: fc.uint8Array({ maxLength: 300 }) });
const edns = fc.record({
  udpPayloadSize: fc.nat(0xffff),
  version: fc.nat(255),
  dnssecOk: fc.boolean(),
  options: fc.array(option, { maxLength: 8 }),
});

const message: fc.Arbitrary<Message> = fc
  .record({
    ...(Object.fromEntries(FLAGS.map((flag) => [flag, fc.boolean()])) as Record<
      keyof Flags,
      fc.Arbitrary<boolean>
    >),
    id: fc.nat(0xffff),
    opcode: fc.nat(15),
    rcode: fc.nat(0xfff),
    questions: fc.array(fc.record({ name, type: fc.nat(0xffff), class: fc.nat(0xffff) }), { maxLength: 2 }),
    answers: fc.array(record, { maxLength: 6 }),
    authorities: fc.array(record, { maxLength: 3 }),
    additionals: fc.array(record, { maxLength: 3 }),
    edns,
  })
  .chain((whole) => {
    const { edns: _, ...plain } = whole;
    return fc.constantFrom<Message>(whole, { ...plain, rcode: whole.rcode & 15 });
  });

describe('the codec', () => {
  test('returns every message unchanged, with case, compression and options', () => {
    fc.assert(
      fc.property(message, (value) => {
        expect(decodeMessage(encodeMessage(value))).toEqual(value);
      }),
      { numRuns: scale(500, 60) },
    );
  });

  test('throws only WireError for mutated messages', () => {
    const mutation = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(message, mutation, fc.nat(), (value, octets, cut) => {
        const bytes = encodeMessage(value);
        for (const [at, octet] of octets) bytes[at % bytes.length] = octet;
        try {
          decodeMessage(bytes.subarray(0, cut % (bytes.length + 1)));
          decodeMessage(bytes);
        } catch (error) {
          if (!(error instanceof WireError)) throw error;
        }
      }),
      { numRuns: scale(2000, 100) },
    );
  });

  test('is compatible with dns-packet', () => {
    const answers = recordsOf(`www.example.com. 300 CNAME web.example.com.
web.example.com. 60 A 192.0.2.1
web.example.com. 60 AAAA 2001:db8::1
example.com. 3600 MX 10 mail.example.com.
example.com. 3600 TXT "v=spf1 -all" "second"
_sip._tcp.example.com. 300 SRV 1 2 5060 sip.example.com.`).map((one) => ({ ...one, class: 1 }));
    const value: Message = {
      ...EMPTY,
      qr: true,
      aa: true,
      questions: [{ name: parseName('www.example.com.'), type: TYPE.A, class: 1 }],
      answers,
      edns: { udpPayloadSize: 1232, version: 0, dnssecOk: true, options: [] },
    };
    const read = dnsPacket.decode(Buffer.from(encodeMessage(value)));
    expect(read.flag_aa).toBe(true);
    expect(read.questions).toEqual([{ name: 'www.example.com', type: 'A', class: 'IN' }]);
    expect(read.answers?.map((one) => [one.name, one.type, 'data' in one ? one.data : undefined])).toEqual([
      ['www.example.com', 'CNAME', 'web.example.com'],
      ['web.example.com', 'A', '192.0.2.1'],
      ['web.example.com', 'AAAA', '2001:db8::1'],
      ['example.com', 'MX', { preference: 10, exchange: 'mail.example.com' }],
      ['example.com', 'TXT', [Buffer.from('v=spf1 -all'), Buffer.from('second')]],
      ['_sip._tcp.example.com', 'SRV', { priority: 1, weight: 2, port: 5060, target: 'sip.example.com' }],
    ]);
    expect(read.additionals).toMatchObject([{ type: 'OPT', udpPayloadSize: 1232, flag_do: true }]);
  });

  test('reads messages from dns-packet', () => {
    const opt = { type: 'OPT', name: '.', udpPayloadSize: 4096, extendedRcode: 0, ednsVersion: 0, flags: 0 };
    const bytes = dnsPacket.encode({
      type: 'query',
      id: 4711,
      flags: dnsPacket.RECURSION_DESIRED,
      questions: [{ type: 'AAAA', name: 'WWW.example.com' }],
      additionals: [{ ...opt, flag_do: false, options: [] } as dnsPacket.OptAnswer],
    });
    expect(decodeMessage(bytes)).toEqual({
      ...EMPTY,
      id: 4711,
      rd: true,
      questions: [{ name: parseName('WWW.example.com.'), type: TYPE.AAAA, class: 1 }],
      edns: { udpPayloadSize: 4096, version: 0, dnssecOk: false, options: [] },
    });
  });
});

test.each(
  rowsOf(`
an empty message |
a truncated header | 1234 0000 0000 0000 0000 00
a missing question | 1234 0000 0001 0000 0000 0000
a name that points to itself | 1234 0000 0001 0000 0000 0000 c00c 0001 0001
a name that points forward | 1234 0000 0001 0000 0000 0000 c00e 0001 0001
a name that exceeds the message | 1234 0000 0001 0000 0000 0000 3f61
rdata that is too short for its type | 1234 0000 0000 0001 0000 0000 00 0001 0001 00000000 0003 010203
rdata that exceeds the message | 1234 0000 0000 0001 0000 0000 00 0001 0001 00000000 0005 01020304
two OPT records | 1234 0000 0000 0000 0000 0002 OPT() OPT()
OPT in the answer section | 1234 0000 0000 0001 0000 0000 OPT()
OPT below a name | 1234 0000 0000 0000 0000 0001 "a." 0029 04d0 00000000 0000
an option without a code | 1234 0000 0000 0000 0000 0001 00 0029 04d0 00000000 0001 00
an option without a length | 1234 0000 0000 0000 0000 0001 00 0029 04d0 00000000 0003 000300
octets after an option | 1234 0000 0000 0000 0000 0001 00 0029 04d0 00000000 0006 0003000161ff
a truncated option | 1234 0000 0000 0000 0000 0001 00 0029 04d0 00000000 0005 00030002ff`),
)('%s is a WireError', (_, packet = '') => {
  expect(() => decodeMessage(assemble(packet))).toThrow(WireError);
});

test('known rcodes are printed as mnemonics, others as numbers', () => {
  for (const [mnemonic, code] of Object.entries(RCODE)) expect(rcodeMnemonic(code)).toBe(mnemonic);
  expect(rcodeMnemonic(11)).toBe('RCODE11');
});
