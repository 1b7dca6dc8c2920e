import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalKey, encodeKey, fillKeyStart } from '../../../src/dns/dnssec/canonical-key.ts';
import {
  compareNames,
  foldCase,
  labelCount,
  type Name,
  parseName,
  prependLabel,
  wildcardBelow,
} from '../../../src/dns/name.ts';

const APEX = parseName('zone.example.');
const label = fc
  .array(fc.oneof(fc.constantFrom(0, 1, 2, 0x2a, 0x41, 0x61, 0xff), fc.nat(255)), {
    minLength: 1,
    maxLength: 5,
  })
  .map((octets) => String.fromCharCode(...octets));
const name = fc
  .array(label, { maxLength: 4 })
  .map((labels) => labels.reduce<Name>((below, each) => prependLabel(each, below) as Name, APEX));

const hex = (text: string, apex = APEX) =>
  Buffer.from(encodeKey(canonicalKey(parseName(text, apex), apex))).toString('hex');

function labelled(of: Name) {
  const octets = new Uint8Array(264).fill(0xee);
  octets.set(Buffer.from(of, 'latin1'));
  const labelAt = new Uint8Array(128);
  let labels = 0;
  for (let at = 0; octets[at] !== 0; at += (octets[at] as number) + 1) labelAt[labels++] = at;
  labelAt[labels] = of.length - 1;
  return { octets, labelAt, labels };
}

function startOf(key: string): number[] {
  const octets = Buffer.alloc(8);
  octets.set(Buffer.from(key, 'latin1').subarray(0, 8));
  return [octets.readUInt32BE(0), octets.readUInt32BE(4)];
}

describe('the key of a name', () => {
  it('has the labels from the right, each ended by 00, with 00 and 01 escaped', () => {
    expect(hex('@')).toBe('');
    expect(hex('b.A')).toBe('61006200');
    expect(hex('x\\000y')).toBe('7801017900');
    expect(hex('\\001')).toBe('010200');
    expect(hex('a', parseName('.'))).toBe('6100');
  });

  it('sorts as RFC 4034 §6.1 orders the names, as octets and as a string', () => {
    const sorted = ['@', 'a', 'yljkjljk.a', 'Z.a', 'zABC.a', 'z', '\\001.z', '*.z', '\\200.z'];
    const keys = sorted.map((text) => canonicalKey(parseName(text, APEX), APEX));
    expect(keys.toSorted()).toEqual(keys);
    fc.assert(
      fc.property(name, name, (a, b) => {
        const [left, right] = [canonicalKey(a, APEX), canonicalKey(b, APEX)];
        const order = Math.sign(compareNames(a, b));
        expect(Math.sign(Buffer.compare(encodeKey(left), encodeKey(right)))).toBe(order);
        expect(left < right ? -1 : Number(left > right)).toBe(order);
      }),
      { numRuns: 2000 },
    );
  });

  it('has a start of eight octets that is filled in without garbage, for each name above and its wildcard', () => {
    const words = new Uint32Array(2);
    fc.assert(
      fc.property(name, (mixed) => {
        const folded = foldCase(mixed);
        const found = labelled(folded);
        for (let from = 0; from <= found.labels - labelCount(APEX); from++) {
          const suffix = folded.slice(found.labelAt[from]) as Name;
          fillKeyStart(found, from, labelCount(APEX), false, words);
          expect([...words]).toEqual(startOf(canonicalKey(suffix, APEX)));
          fillKeyStart(found, from, labelCount(APEX), true, words);
          expect([...words]).toEqual(startOf(canonicalKey(wildcardBelow(suffix) as Name, APEX)));
        }
      }),
      { numRuns: 1000 },
    );
  });
});
