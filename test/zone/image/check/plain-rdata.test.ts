// The quick look at rdata finds what decoding it finds.

import { expect, test } from 'vitest';
import { WireError } from '../../../../src/dns/errors.ts';
import { checkRdata } from '../../../../src/dns/record/rdata.ts';
import { TYPE } from '../../../../src/dns/type-codes.ts';
import { isNsec, isRrsig } from '../../../../src/zone/image/check/plain-rdata.ts';
import { randomFrom } from '../../../support/random/random-zones.ts';
import { scale } from '../../../support/tests/scale.ts';
import { recordsOf } from '../../../support/zone/zone-text.ts';

const LONG = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}.`;
const TEXTS = [
  'RRSIG A 13 2 300 20300101000000 20200101000000 1 example. dGVzdA==',
  `RRSIG NSEC 8 2 300 20300101000000 20200101000000 1 ${LONG} dA==`,
  'RRSIG SOA 15 0 300 20300101000000 20200101000000 1 . dGVzdA==',
  'NSEC example. A RRSIG NSEC',
  'NSEC . A MX TYPE258 TYPE513 TYPE65535',
  `NSEC ${LONG} RRSIG NSEC`,
];

function decodes(type: number, rdata: Uint8Array): boolean {
  try {
    checkRdata(type, rdata);
    return true;
  } catch (error) {
    if (error instanceof WireError) return false;
    throw error;
  }
}

test.each(TEXTS)('%s, whole, cut short, lengthened, and with other octets', (text) => {
  const [record] = recordsOf(`x 60 ${text}`, 'test.');
  const { type, rdata } = record as NonNullable<typeof record>;
  const isSound = type === TYPE.NSEC ? isNsec : isRrsig;
  const random = randomFrom(type + rdata.length);
  const around = (octets: Uint8Array) => {
    // Between octets that would make it whole if they were read.
    const place = Buffer.concat([Buffer.from([1, 97, 0]), octets, Buffer.from([1, 97, 0, 0, 1, 64, 9, 9])]);
    expect(isSound(place, 3, 3 + octets.length)).toBe(decodes(type, octets));
  };
  around(rdata);
  expect(decodes(type, rdata)).toBe(true);
  let refused = 0;
  for (let length = 0; length < rdata.length; length++) around(rdata.subarray(0, length));
  for (let i = 0; i < scale(5000, 800); i++) {
    const changed = Uint8Array.from([...rdata, ...(i % 3 === 0 ? [Math.floor(random() * 4), 1, 5] : [])]);
    for (let n = 0; n <= i % 3; n++) {
      const interesting = [0, 1, 32, 33, 63, 64, 0xc0, Math.floor(random() * 256)];
      changed[Math.floor(random() * changed.length)] = interesting[Math.floor(random() * 8)] as number;
    }
    around(changed);
    if (!decodes(type, changed)) refused++;
  }
  expect(refused).toBeGreaterThan(scale(100, 15));
});
