// Mutated signed messages cause no exception, and none is accepted if a digested octet differs.

import { expect, test } from 'vitest';
import {
  readTsig,
  signMessage,
  TSIG_ERROR,
  type TsigKey,
  verifyRequest,
} from '../../src/dns/message/tsig.ts';
import { TsigStreamSigner, TsigStreamVerifier } from '../../src/dns/message/tsig-stream.ts';
import { decodeName, foldCase, type Name, parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { assemble, queryFor } from '../support/answer/packets.ts';
import { pick, type Random, randomFrom } from '../support/random/random-zones.ts';
import { scale } from '../support/tests/scale.ts';

const NOW = 1_800_000_000;
const SECRET = Uint8Array.from({ length: 32 }, (_, i) => i);
const KEYS = (['hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const).map(
  (algorithm): TsigKey => ({ name: parseName('transfer.key.'), algorithm, secret: SECRET }),
);
const MESSAGES = [
  queryFor('example.test.', TYPE.SOA),
  queryFor('www.example.test.', TYPE.A, { id: 0xffff, opt: 'do cookie:2464c4abcf10c957' }),
  assemble(
    '4711 2000 0001 0001 0000 0000 "example.test." 0006 0001 c00c 0006 0001 00000e10 001a 026e73c00c 00 00000001 00000002 00000003 00000004 00000005',
  ),
  assemble(
    `0001 8400 0000 0003 0000 0000 ${'"example.test." 0010 0001 0000003c 0006 0568656c6c6f '.repeat(3)}`,
  ),
];
const SIZE_BEFORE_MAC = 10; // octets after the algorithm's name

interface Signed {
  readonly key: TsigKey;
  readonly octets: Buffer;
  /** Offset of the TSIG record. */
  readonly start: number;
}

const signed = MESSAGES.flatMap((message) =>
  KEYS.map((key): Signed => {
    const octets = Buffer.from(signMessage(message, key, { nowSeconds: NOW }).message);
    return { key, octets, start: message.length };
  }),
);

/** Changes one to three parts of a message. */
function mutated(random: Random, { octets, start, key }: Signed): Buffer {
  const below = (limit: number) => Math.floor(random() * limit);
  const randomOctets = () => Buffer.from(Array.from({ length: 1 + below(8) }, () => below(256)));
  const rdata = start + key.name.length + 10;
  const macSize = rdata + 13 + SIZE_BEFORE_MAC - 2;
  const macEnd = macSize + 2 + octets.readUInt16BE(macSize);
  const numbers = [4, 6, 8, 10, rdata - 10, rdata - 8, rdata - 2, macSize, macEnd, macEnd + 2, macEnd + 4];
  let copy = Buffer.from(octets);
  for (let i = pick(random, [0, 0, 1, 2]); i >= 0; i--) {
    if (copy.length === 0) return copy;
    const at = below(copy.length);
    switch (below(14)) {
      case 0:
        copy[at] = below(256);
        break;
      case 1:
        copy = copy.subarray(0, at);
        break;
      case 2: // a part is repeated or missing
        copy = Buffer.concat([copy.subarray(0, at), copy.subarray(below(copy.length))]);
        break;
      case 3:
        copy = Buffer.concat([copy.subarray(0, at), randomOctets(), copy.subarray(at)]);
        break;
      case 4: {
        const number = pick(random, numbers);
        if (number + 2 > copy.length) break;
        const changed = copy.readUInt16BE(number) + pick(random, [1, 0xffff, below(65536)]);
        copy.writeUInt16BE(changed & 0xffff, number);
        break;
      }
      case 5: // the TSIG record of another message
        copy = Buffer.concat([copy.subarray(0, start), recordOf(pick(random, signed))]);
        break;
      case 6: // two TSIG records
        copy = Buffer.concat([copy, recordOf(pick(random, signed))]);
        copy[11] = (copy[11] as number) + 1;
        break;
      case 7: {
        // a truncated MAC, with correct lengths
        if (copy.length !== octets.length) break;
        const cut = below(macEnd - macSize - 1);
        copy.writeUInt16BE(octets.readUInt16BE(rdata - 2) - cut, rdata - 2);
        copy.writeUInt16BE(macEnd - macSize - 2 - cut, macSize);
        copy = Buffer.concat([copy.subarray(0, macEnd - cut), copy.subarray(macEnd)]);
        break;
      }
      default:
        copy[at] = (copy[at] as number) ^ (1 << below(8));
    }
  }
  return copy;
}

function recordOf({ octets, start }: Signed): Buffer {
  return octets.subarray(start);
}

/** Returns the digested octets of a message whose TSIG record begins at `start`. Original ID replaces the id. */
function digested(message: Buffer, start: number): string {
  const { name, end } = decodeName(message, start);
  const algorithm = message.toString('latin1', end + 10, end + 23) as Name;
  const others = [message.subarray(2, start), message.subarray(end, end + 10), message.subarray(end + 23)];
  return [foldCase(name), foldCase(algorithm), ...others.map((part) => part.toString('latin1'))].join('|');
}

test('mutated requests are rejected', () => {
  const random = randomFrom(8945);
  const outcomes = new Map<string, number>();
  for (let i = scale(10_000_000, 2_000_000); i > 0; i--) {
    const from = pick(random, signed);
    const copy = mutated(random, from);
    const read = readTsig(copy);
    const verified = read.kind === 'found' ? verifyRequest(copy, read.tsig, from.key, NOW) : read;
    const outcome = verified.kind === 'bad' ? `error ${verified.error}` : verified.kind;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (outcome === 'ok' && digested(copy, from.start) !== digested(from.octets, from.start))
      throw new Error(`${copy.toString('hex')} is accepted as ${from.octets.toString('hex')}`);
  }
  const { BADKEY, BADSIG, BADTRUNC } = TSIG_ERROR;
  const errors = [BADSIG, BADKEY, BADTRUNC].map((error) => `error ${error}`);
  expect([...outcomes.keys()].sort()).toEqual([...errors, 'malformed', 'none', 'ok'].sort());
});

test('streams with one mutated message are rejected', () => {
  const random = randomFrom(5936);
  const key = KEYS[0] as TsigKey;
  const signer = new TsigStreamSigner(key, SECRET);
  const stream = Array.from({ length: 4 }, (_, i): Signed => {
    const message = MESSAGES[i % MESSAGES.length] as Buffer;
    return { key, octets: Buffer.from(signer.sign(message, NOW)), start: message.length };
  });
  let accepted = 0;
  for (let i = scale(2_000_000, 400_000); i > 0; i--) {
    const changed = Math.floor(random() * stream.length);
    const from = stream[changed] as Signed;
    const copy = mutated(random, from);
    const verifier = new TsigStreamVerifier(key, SECRET);
    for (const [at, { octets }] of stream.entries()) verifier.accept(at === changed ? copy : octets, NOW);
    if (!verifier.isComplete) continue;
    accepted++;
    if (digested(copy, from.start) !== digested(from.octets, from.start))
      throw new Error(`${copy.toString('hex')} is accepted as message ${changed}`);
  }
  expect(accepted).toBeGreaterThan(0);
});
