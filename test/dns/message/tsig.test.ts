import { describe, expect, it, test } from 'vitest';
import {
  readTsig,
  signErrorAnswer,
  signMessage,
  TSIG_ERROR,
  type TsigAlgorithm,
  type TsigKey,
  type TsigRecord,
  tsigOctets,
  verifyRequest,
} from '../../../src/dns/message/tsig.ts';
import { TsigStreamSigner, TsigStreamVerifier } from '../../../src/dns/message/tsig-stream.ts';
import { parseName } from '../../../src/dns/name.ts';
import { assemble, queryFor } from '../../support/answer/packets.ts';
import { rowsOf } from '../../support/tests/rows-of.ts';

const NOW = 1_800_000_000;
const SECRET = Uint8Array.from({ length: 32 }, (_, i) => i);
const keyOf = (algorithm: string, name = 'key.example.test.'): TsigKey => ({
  name: parseName(name),
  algorithm: algorithm as TsigAlgorithm,
  secret: SECRET,
});
const KEY = keyOf('hmac-sha256');
const QUERY = queryFor('example.test.', 6);

function found(message: Uint8Array): TsigRecord {
  const result = readTsig(message);
  if (result.kind !== 'found') throw new Error(`the TSIG record is ${result.kind}`);
  return result.tsig;
}

/** Returns the message as it was when it was signed. */
function unsigned(message: Uint8Array): Buffer {
  const { start, originalId } = found(message);
  const copy = Buffer.from(message.subarray(0, start));
  copy.writeUInt16BE(copy.readUInt16BE(10) - 1, 10);
  copy.writeUInt16BE(originalId);
  return copy;
}

/** Verifies a request, and returns 'ok', 'malformed', 'none' or the name of the error. */
function verdict(message: Uint8Array, key: TsigKey = KEY, now = NOW): string {
  const result = readTsig(message);
  if (result.kind !== 'found') return result.kind;
  const verified = verifyRequest(message, result.tsig, key, now);
  if (verified.kind === 'ok') return 'ok';
  return Object.entries(TSIG_ERROR).find(([, code]) => code === verified.error)?.[0] ?? 'unknown';
}

/** Messages that dnspython 2.3, BIND 9.18 and kdig 3.2 signed with SECRET, with the MAC of the request. */
const SIGNED = rowsOf(`
a query of dnspython with a compressed owner | hmac-sha256 | | 123400000001000000000001076578616d706c6504746573740000060001036b6579c00c00fa00ff00000000003d0b686d61632d7368613235360000006b49d200012c002033d7c965d6d883eddbef2a71f9af28c172593ad95aa4a687881f503f3ac3e425123400000000
dnspython's response | hmac-sha256 | 33d7c965d6d883eddbef2a71f9af28c172593ad95aa4a687881f503f3ac3e425 | 123484000001000100000001076578616d706c6504746573740000060001c00c000600010000003c0020026e73c00c04686f7374c00c0000000700000001000000010000000100000001036b6579c00c00fa00ff00000000003d0b686d61632d7368613235360000006b49d200012c00202703525ffebc4942ae562ab2951d5b626fbb572d0023e8704288f978edbc47fc123400000000
a query with names in upper case and a fudge of 60 s | hmac-sha384 | | 123400000001000000000001076578616d706c6504746573740000fb0001034b4559c00c00fa00ff00000000004d0b484d41432d5348413338340000006b49d200003c0030578a5c062d36495a95261a1eb996d7f3ffd2774a37c8b46ba014350c1116ce14cbc70dad5427f7087817bbb983c9215c123400000000
a query whose id was changed after it was signed | hmac-sha512 | | 123400000001000000000001076578616d706c6504746573740000060001036b6579c00c00fa00ff00000000005d0b686d61632d7368613531320000006b49d200012c0040415bb46d6b3683b69c5b40a9e2b50843168cc20fef4204bf7063c1debc714afd61969c7678d34039313a3647552e8f12260b76b9b87fc2a2c05385000eb48c99471100000000
a NOTIFY with EDNS and Other Data | hmac-sha256 | | 123420000001000000000002076578616d706c650474657374000006000100002904d0000000000000036b6579c00c00fa00ff0000000000420b686d61632d7368613235360000006b49d200012c0020824eb886be205525e8c0d0999781eaf8ecf9994e19bfce006b0b7e5454dbe9251234000000056f74686572
a query of dig | hmac-sha512 | | a80400200001000000000002076578616d706c650474657374000006000100002904d000000000000c000a0008cb2e757cf1db90e4036b6579076578616d706c6504746573740000fa00ff00000000005d0b686d61632d7368613531320000006b0ce6f7012c0040052245bed88c8bf5f6b677f0b8f636dd50fab44e6dd50c0da735c32cbbbba461728ffabcd8cd54580adca80ef3c562401706038a8fa5baf8797d84c1752233a8a80400000000
a query of kdig | hmac-sha384 | | 2ec800200001000000000001076578616d706c6504746573740000060001036b6579076578616d706c6504746573740000fa00ff00000000004d0b686d61632d7368613338340000006b0ce6f8012c0030c74e5eea869b02cc3a1f8fbd11e4a4edbd5729076f4419188e0fc68aa26d5ea19ebf2d03bb8e97d9094f00478e685d9d2ec800000000`);
/** Answers of BIND to queries with a time of 1800000000, with 16 octets of a MAC, with another key, and with a wrong MAC. */
const [BADTIME, BADTRUNC, BADKEY, BADSIG] = [
  '123480090001000000000001076578616d706c6504746573740000060001036b6579076578616d706c6504746573740000fa00ff0000000000430b686d61632d7368613235360000006b49d200012c002098ecb0586fc0a7aa00319f6b337bd3f388f5f3d2204ac92f6b988b2129b8446512340012000600006b0ce6f7',
  '123480090001000000000001076578616d706c6504746573740000060001036b6579076578616d706c6504746573740000fa00ff00000000003d0b686d61632d7368613235360000006b0ce6f7012c0020a3e3fff40a4375586bb23c5511390822670af62b23ca2166836d4bdb67804e93123400160000',
  '123480090001000000000001076578616d706c6504746573740000060001056f746865720000fa00ff00000000001d0b686d61632d7368613235360000006b0ce6f7012c0000123400110000',
  '123480090001000000000001076578616d706c6504746573740000060001036b6579076578616d706c6504746573740000fa00ff00000000001d0b686d61632d7368613235360000006b0ce6f7012c0000123400100000',
].map((hex) => Buffer.from(hex, 'hex')) as [Buffer, Buffer, Buffer, Buffer];
/** MACs of the first two queries. */
const BADTIME_REQUEST = 'b29ff519a5c724cd064bec58846004ed543a739f4f6a6c85ff0096bce8270f57';
const BADTRUNC_REQUEST = '6282ae39b4c1623c8f17d402b1f0558e';

describe('messages signed by other implementations', () => {
  test.each(
    SIGNED,
  )('%s is verified, and signed with the same MAC', (_, algorithm = '', mac = '', hex = '') => {
    const message = Buffer.from(hex, 'hex');
    const key = keyOf(algorithm);
    const requestMac = mac === '' ? {} : { requestMac: Buffer.from(mac, 'hex') };
    const tsig = found(message);
    expect(tsig).toMatchObject({ keyName: key.name, algorithmName: parseName(`${algorithm}.`), error: 0 });
    if (mac === '') expect(verdict(message, key, tsig.timeSigned)).toBe('ok');
    else expect(streamed([message], key, mac, tsig.timeSigned)).toEqual(['signed']);
    const { timeSigned: nowSeconds, fudge, otherData } = tsig;
    const options = { nowSeconds, fudge, otherData, ...requestMac };
    expect(Buffer.from(signMessage(unsigned(message), key, options).mac)).toEqual(Buffer.from(tsig.mac));
  });

  test.each([
    ['BADTIME', BADTIME, BADTIME_REQUEST, 0x6b0ce6f7],
    ['BADTRUNC', BADTRUNC, BADTRUNC_REQUEST, 0x6b0ce6f7],
    ['BADKEY', BADKEY, '', 0],
    ['BADSIG', BADSIG, '', 0],
  ] as const)('%s answers equal those of BIND', (name, answer, mac, now) => {
    const request = { ...found(answer), mac: Buffer.from(mac, 'hex') };
    const error = TSIG_ERROR[name];
    const signed = signErrorAnswer(unsigned(answer), request, error === 17 ? undefined : KEY, error, now);
    expect(Buffer.from(signed)).toEqual(answer);
    expect(streamed([answer], KEY, mac, request.timeSigned)).toEqual([`the server reports ${name}`]);
  });
});

describe('readTsig', () => {
  const signed = signMessage(QUERY, KEY, { nowSeconds: NOW }).message;
  const { start } = found(signed);
  const TIMED = '00006b49d200 012c';
  const MAC = 'aa'.repeat(32);
  const NAMES = `"Key.Example.Test." 00fa 00ff 00000000`;

  it('reads all fields', () => {
    const message = assemble(
      `1234 8009 0000 0000 0000 0001 ${NAMES} 0040 "HMAC-sha256." 80000000000a 0102 0020 ${MAC} 4711 0012 0003 010203`,
    );
    expect(readTsig(message)).toEqual({
      kind: 'found',
      tsig: {
        start: 12,
        keyName: KEY.name,
        algorithmName: parseName('hmac-sha256.'),
        timeSigned: 2 ** 47 + 10,
        fudge: 0x102,
        mac: Buffer.from(MAC, 'hex'),
        originalId: 0x4711,
        error: 18,
        otherData: Buffer.of(1, 2, 3),
      },
    });
  });

  it('finds no record in an unsigned message', () => {
    expect(readTsig(QUERY)).toEqual({ kind: 'none' });
    expect(readTsig(queryFor('example.test.', 250))).toEqual({ kind: 'none' });
  });

  it('reports a truncated question as malformed', () => {
    expect(readTsig(QUERY.subarray(0, -1))).toEqual({ kind: 'malformed' });
  });

  it('reports every prefix of a signed message as malformed', () => {
    for (let end = 0; end < signed.length; end++) expect(verdict(signed.subarray(0, end))).toBe('malformed');
  });

  const record = Buffer.from(signed.subarray(start)).toString('hex');
  const A = '00 0001 0001 00000000 0004 01020304';
  test.each(
    rowsOf(`
in the additional section        | 0000 0000 0000 0001 | ${record}        | BADSIG
after another record             | 0000 0001 0000 0001 | ${A} ${record}   | BADSIG
before another record            | 0000 0000 0000 0002 | ${record} ${A}   | malformed
before a missing record            | 0000 0000 0000 0002 | ${record}        | malformed
twice                            | 0000 0000 0000 0002 | ${record}${record} | malformed
in the answer section            | 0000 0001 0000 0000 | ${record}        | malformed
in the authority section         | 0000 0000 0001 0000 | ${record}        | malformed
before an octet                  | 0000 0000 0000 0001 | ${record} 00     | malformed
after a missing question         | 0001 0000 0000 0001 | ${record}        | malformed
with class IN                    | 0000 0000 0000 0001 | "key." 00fa 0001 00000000 003d "hmac-sha256." ${TIMED} 0020 ${MAC} 1234 0000 0000 | malformed
with a TTL                      | 0000 0000 0000 0001 | "key." 00fa 00ff 00000001 003d "hmac-sha256." ${TIMED} 0020 ${MAC} 1234 0000 0000 | malformed
with a compressed owner         | 0001 0000 0000 0001 | "key." 0001 0001 c00c 00fa 00ff 00000000 003d "hmac-sha256." ${TIMED} 0020 ${MAC} 1234 0000 0000 | BADKEY
after a label of an unknown type   | 0000 0001 0000 0001 | 40${'00'.repeat(64)} ${A} ${record} | malformed
with a pointer forwards         | 0000 0000 0000 0001 | c00e 00fa 00ff 00000000 003d "hmac-sha256." ${TIMED} 0020 ${MAC} 1234 0000 0000 | malformed
with a compressed algorithm     | 0001 0000 0000 0001 | "hmac-sha256." 0001 0001 "key." 00fa 00ff 00000000 0032 c00c ${TIMED} 0020 ${MAC} 1234 0000 0000 | malformed
with such an algorithm and padding | 0001 0000 0000 0001 | "hmac-sha256." 0001 0001 "key." 00fa 00ff 00000000 003d c00c ${'00'.repeat(11)} ${TIMED} 0020 ${MAC} 1234 0000 0000 | malformed
with long RDLENGTH              | 0000 0000 0000 0001 | ${NAMES} 003e "hmac-sha256." ${TIMED} 0020 ${MAC} 1234 0000 0000 | malformed
with short RDLENGTH             | 0000 0000 0000 0001 | ${NAMES} 003c "hmac-sha256." ${TIMED} 0020 ${MAC} 1234 0000 0000 | malformed
with a long MAC size            | 0000 0000 0000 0001 | ${NAMES} 003d "hmac-sha256." ${TIMED} 0021 ${MAC} 1234 0000 0000 | malformed
with a short MAC size           | 0000 0000 0000 0001 | ${NAMES} 003d "hmac-sha256." ${TIMED} 001f ${MAC} 1234 0000 0000 | malformed
with a long size of Other Data  | 0000 0000 0000 0001 | ${NAMES} 003d "hmac-sha256." ${TIMED} 0020 ${MAC} 1234 0000 0001 | malformed
with a short size of Other Data | 0000 0000 0000 0001 | ${NAMES} 003e "hmac-sha256." ${TIMED} 0020 ${MAC} 1234 0000 0000 00 | malformed
with the largest MAC            | 0000 0000 0000 0001 | ${NAMES} 003d "hmac-sha256." ${TIMED} 0020 ${MAC} 1234 0000 0000 | BADSIG
with a larger MAC               | 0000 0000 0000 0001 | ${NAMES} 003e "hmac-sha256." ${TIMED} 0021 ${MAC}00 1234 0000 0000 | malformed
with half a MAC                 | 0000 0000 0000 0001 | ${NAMES} 002d "hmac-sha256." ${TIMED} 0010 ${'aa'.repeat(16)} 1234 0000 0000 | BADSIG
with less than half a MAC       | 0000 0000 0000 0001 | ${NAMES} 002c "hmac-sha256." ${TIMED} 000f ${'aa'.repeat(15)} 1234 0000 0000 | malformed
with no MAC                     | 0000 0000 0000 0001 | ${NAMES} 001d "hmac-sha256." ${TIMED} 0000 1234 0010 0000 | malformed
without rdata                   | 0000 0000 0000 0001 | ${NAMES} 0000 | malformed
of hmac-sha1                    | 0000 0000 0000 0001 | ${NAMES} 002f "hmac-sha1." ${TIMED} 0014 ${'aa'.repeat(20)} 1234 0000 0000 | BADKEY
of hmac-md5                     | 0000 0000 0000 0001 | ${NAMES} 003a "hmac-md5.sig-alg.reg.int." ${TIMED} 0010 ${'aa'.repeat(16)} 1234 0000 0000 | BADKEY`),
  )('reads a record %s', (_, counts = '', rest = '', expected = '') => {
    expect(verdict(assemble(`1234 0000 ${counts} ${rest}`))).toBe(expected);
  });
});

describe('verifyRequest', () => {
  /** Returns a signed query. Its MAC is cut to `macOctets`, after `edit` changed its octets. */
  function query(fudge: number, macOctets: number, edit: 'valid' | 'forged', key = KEY): Uint8Array {
    const { message } = signMessage(QUERY, key, { nowSeconds: NOW, fudge });
    const { start, mac } = found(message);
    const size = start + key.name.length + 10 + 13 + 8;
    const copy = Buffer.from(message);
    if (edit === 'forged') copy[size + 2] = (copy[size + 2] as number) ^ 1;
    copy.writeUInt16BE(macOctets, size);
    const rdlength = start + key.name.length + 8;
    copy.writeUInt16BE(copy.readUInt16BE(rdlength) - mac.length + macOctets, rdlength);
    return Buffer.concat([copy.subarray(0, size + 2 + macOctets), copy.subarray(size + 2 + mac.length)]);
  }

  test.each([
    // key, MAC, fudge and difference of the clocks, octets of the MAC
    ['accepts a valid query', KEY, 'valid', 300, 0, 32, 'ok'],
    ['accepts a slow clock within the fudge', KEY, 'valid', 10, -10, 32, 'ok'],
    ['accepts a fast clock within the fudge', KEY, 'valid', 10, 10, 32, 'ok'],
    ['rejects a slower clock', KEY, 'valid', 10, -11, 32, 'BADTIME'],
    ['rejects a faster clock', KEY, 'valid', 10, 11, 32, 'BADTIME'],
    ['accepts 300 s, with a larger fudge', KEY, 'valid', 65535, 300, 32, 'ok'],
    ['rejects more than 300 s, with a larger fudge', KEY, 'valid', 65535, 301, 32, 'BADTIME'],
    ['checks truncation after the MAC', KEY, 'valid', 10, 0, 31, 'BADTRUNC'],
    ['rejects half a MAC', KEY, 'valid', 10, 0, 16, 'BADTRUNC'],
    ['checks the time before truncation', KEY, 'valid', 10, 11, 31, 'BADTIME'],
    ['checks the MAC before time and truncation', KEY, 'forged', 10, 11, 31, 'BADSIG'],
    ['checks the key before the MAC', keyOf('hmac-sha256', 'a.test.'), 'forged', 10, 11, 31, 'BADKEY'],
    ['rejects a key for another algorithm', keyOf('hmac-sha512'), 'valid', 10, 0, 32, 'BADKEY'],
    ['rejects another secret', { ...KEY, secret: SECRET.subarray(1) }, 'valid', 10, 0, 32, 'BADSIG'],
  ] as const)('%s', (_, key, edit, fudge, late, macOctets, expected) => {
    const message = query(fudge, macOctets, edit);
    const result = verifyRequest(message, found(message), key, NOW + late);
    expect(result).toEqual(expected === 'ok' ? { kind: 'ok' } : { kind: 'bad', error: TSIG_ERROR[expected] });
  });

  it('rejects a record without a MAC', () => {
    const { message } = signMessage(QUERY, KEY, { nowSeconds: NOW });
    const empty = { ...found(message), mac: new Uint8Array(0) };
    expect(verifyRequest(message, empty, KEY, NOW)).toEqual({ kind: 'bad', error: TSIG_ERROR.BADSIG });
  });

  it('accepts no flipped bit, except in the id and in the case of the names of key and algorithm', () => {
    for (const algorithm of ['hmac-sha256', 'hmac-sha384', 'hmac-sha512']) {
      const key = keyOf(algorithm);
      const message = Buffer.from(signMessage(QUERY, key, { nowSeconds: NOW }).message);
      const { start } = found(message);
      const rdata = start + key.name.length + 10;
      const isInName = (at: number) =>
        (at >= start && at < start + key.name.length) || (at >= rdata && at < rdata + 13);
      for (let bit = 0; bit < message.length * 8; bit++) {
        const at = bit >> 3;
        const mask = 1 << (bit & 7);
        const octet = message[at] as number;
        const isCase = mask === 0x20 && isInName(at) && /[a-z]/.test(String.fromCharCode(octet));
        message[at] = octet ^ mask;
        expect([at, mask, verdict(message, key) === 'ok']).toEqual([at, mask, at < 2 || isCase]);
        message[at] = octet;
      }
    }
  });
});

describe('signMessage', () => {
  it('appends a record without compressed names, and does not change its input', () => {
    const input = Buffer.from(QUERY);
    const { message, mac } = signMessage(input, KEY, { nowSeconds: NOW });
    expect(input).toEqual(QUERY);
    expect(message).toHaveLength(QUERY.length + tsigOctets(KEY));
    expect(message.buffer.byteLength).toBe(message.length); // so that it can be transferred
    expect(Buffer.from(message.subarray(QUERY.length))).toEqual(
      assemble(
        `"key.example.test." 00fa 00ff 00000000 003d "hmac-sha256." 00006b49d200 012c 0020 ${Buffer.from(mac).toString('hex')} 1234 0000 0000`,
      ),
    );
  });
});

/** Verifies the messages of a response, and returns one word or error for each. */
function streamed(messages: readonly Uint8Array[], key: TsigKey, mac: string, now: number): string[] {
  const verifier = new TsigStreamVerifier(key, Buffer.from(mac, 'hex'));
  return messages.map((message) => {
    const result = verifier.accept(message, now);
    const isSigned = verifier.isComplete;
    if (result.kind === 'bad') return isSigned ? 'complete' : result.error;
    expect(Buffer.from(result.message)).toEqual(isSigned ? unsigned(message) : message);
    return isSigned ? 'signed' : 'unsigned';
  });
}

describe('streams', () => {
  /** The MAC of the request, and the messages. BIND signed all of the first stream, dnspython two of the second. */
  const [BIND, DNSPYTHON] = [
    `8a648c48f91ad19350c82057e3d5d4cec066124553cf14d60493efd8f76ae13c
123484000001000100000001076578616d706c6504746573740000fc0001c00c000600010000003c0020026e73c00c04686f7374c00c0000000700000001000000010000000100000001036b6579076578616d706c6504746573740000fa00ff00000000003d0b686d61632d7368613235360000006b0ce6f6012c0020dbbe5c5fc2473a85cfc4dc207d6b38274306f0f718818999e557c79bca80787d123400000000
123484000000000100000001076578616d706c65047465737400000200010000003c0005026e73c00c036b6579076578616d706c6504746573740000fa00ff00000000003d0b686d61632d7368613235360000006b0ce6f6012c00201b0d1b5cb3fffd53d181c631b660d650d374a164a449d99968f847f82173d193123400000000
123484000000000100000001026e73076578616d706c65047465737400000100010000003c0004c0000201036b6579076578616d706c6504746573740000fa00ff00000000003d0b686d61632d7368613235360000006b0ce6f6012c0020d0cced1ddbd06832fd073a7f33776073184d86b73042e27adb9b6d200a8ae085123400000000
123484000000000100000001076578616d706c65047465737400000600010000003c0020026e73c00c04686f7374c00c0000000700000001000000010000000100000001036b6579076578616d706c6504746573740000fa00ff00000000003d0b686d61632d7368613235360000006b0ce6f6012c0020c8be9442b09b1c9a486a2958a0387cfe64b59400c92a332394ceceea3a06afde123400000000`,
    `1d6eba070c22b0cb38dbd1337264f97f1c41bda720428012ed714eaf26944b1c
123484000000000100000001076578616d706c65047465737400000600010000003c0020026e73c00c04686f7374c00c0000000700000001000000010000000100000001036b6579c00c00fa00ff00000000003d0b686d61632d7368613235360000006b49d200012c0020c2113ee04fa7c8b543b5a3db95e519eb15df6e63ee86a92da8019e0e761b4a57123400000000
123484000000000100000000076578616d706c65047465737400000100010000003c0004c0000201
123484000000000100000000076578616d706c65047465737400000100010000003c0004c0000202
123484000000000100000001076578616d706c65047465737400000600010000003c0020026e73c00c04686f7374c00c0000000700000001000000010000000100000001036b6579c00c00fa00ff00000000003d0b686d61632d7368613235360000006b49d205012c0020852b25a0a4f06e944cad23a9ea466e3946d95a804b8ac1f6dddc9cc8172ef113123400000000`,
  ].map((text) => {
    const [mac = '', ...messages] = text.split('\n');
    return { mac, messages: messages.map((hex) => Buffer.from(hex, 'hex')) };
  }) as [{ mac: string; messages: Buffer[] }, { mac: string; messages: Buffer[] }];
  const [first, second, third, last] = DNSPYTHON.messages as [Buffer, Buffer, Buffer, Buffer];
  const accept = (messages: Buffer[], now = NOW) => streamed(messages, KEY, DNSPYTHON.mac, now);

  it('of BIND are verified, and signed with the same MACs', () => {
    const { mac, messages } = BIND;
    const { timeSigned } = found(messages[0] as Buffer);
    expect(streamed(messages, KEY, mac, timeSigned)).toEqual(['signed', 'signed', 'signed', 'signed']);
    const signer = new TsigStreamSigner(KEY, Buffer.from(mac, 'hex'));
    const signed = messages.map((message) => signer.sign(unsigned(message), timeSigned));
    expect(signed.map((message) => Buffer.from(message))).toEqual(messages);
  });

  it('with unsigned messages are verified', () => {
    expect(accept([first, second, third, last])).toEqual(['signed', 'unsigned', 'unsigned', 'signed']);
  });

  test.each([
    ['that begin with an unsigned message', [second, last], 'the first message is not signed'],
    ['without a message', [first, second, last], 'BADSIG'],
    ['in another order', [first, third, second, last], 'BADSIG'],
    ['with an additional message', [first, second, third, third, last], 'BADSIG'],
    ['with a changed octet', [first, second, Buffer.from(third).fill(3, third.length - 1), last], 'BADSIG'],
    ['with a malformed message', [first, second.subarray(1)], 'the message or its TSIG record is malformed'],
    ['with a repeated message', [first, first], 'BADSIG'],
    ['of another request', BIND.messages.slice(0, 1), 'BADSIG'],
  ])('%s are rejected', (_, messages, error) => {
    const results = accept(messages);
    expect(results[messages.length - 1]).toBe(error);
    expect(results.slice(0, -1)).not.toContain('BADSIG');
  });

  it('are rejected from the first bad message on', () => {
    expect(accept([first, last, second, third, first])).toEqual(['signed', ...Array(4).fill('BADSIG')]);
  });

  it('are rejected outside of the fudge', () => {
    expect(accept([first, second, third, last], NOW + 302)).toEqual(Array(4).fill('BADTIME'));
    expect(accept([first], NOW - 301)).toEqual(['BADTIME']);
  });

  it('are rejected with another key', () => {
    const other = keyOf('hmac-sha256', 'other.');
    expect(streamed([first], other, DNSPYTHON.mac, NOW)).toEqual(['the message is signed with another key']);
  });

  it('may have 99 unsigned messages between signed ones', () => {
    const repeated = (count: number) => Array<Buffer>(count).fill(second);
    expect(accept([first, ...repeated(99)]).at(-1)).toBe('unsigned');
    expect(accept([first, ...repeated(100)]).at(-1)).toBe('100 consecutive messages are not signed');
    expect(accept([first, second, third, last, ...repeated(99)]).at(-1)).toBe('unsigned');
  });
});
