// The hash of names: its definition octet by octet, and that no names can be chosen to share one.

import { describe, expect, it } from 'vitest';
import { labelsOf, type Name, parseName } from '../../../src/dns/name.ts';
import { hashFactors, hashName, mixChunk } from '../../../src/zone/image/hash-name.ts';
import { createImage, Image } from '../../../src/zone/image/image.ts';
import { HEADER } from '../../../src/zone/image/layout.ts';
import { wordsOf } from '../../support/tests/rows-of.ts';

function headerOf(seed: number): Int32Array {
  return new Image(createImage(2 ** 16, seed)).header;
}

/** As layout.ts words it. */
function hashByDefinition(header: Int32Array, name: Name): number {
  let hash = header[HEADER.HASH_SEED] as number;
  for (const label of labelsOf(name).reverse()) {
    const octets = Buffer.alloc(64);
    octets[0] = label.length;
    octets.write(label, 1, 'latin1');
    for (let i = 0; i < label.length + 1; i += 4) {
      const factors = [
        header[HEADER.HASH_FACTOR_A] as number,
        header[HEADER.HASH_FACTOR_B] as number,
      ] as const;
      hash = mixChunk(hash, octets.readInt32LE(i), ...factors);
    }
  }
  return hash;
}

describe('the hash of a name', () => {
  it('mixes the labels from the root on, in chunks of four octets', () => {
    const header = headerOf(1);
    const names = [
      ...wordsOf('. a. ab. abc. abcd. a.b. \\000. \\255\\255\\255\\255.'),
      `${'z'.repeat(63)}.x.`,
    ];
    for (const text of names) {
      const name = parseName(text);
      expect(hashName(header, name)).toBe(hashByDefinition(header, name));
    }
    expect(new Set(names.map((text) => hashName(header, parseName(text)))).size).toBe(names.length);
  });

  it('is another one for each seed', () => {
    const name = parseName('www.example.');
    const hashes = Array.from({ length: 100 }, (_, seed) => hashName(headerOf(seed), name));
    expect(new Set(hashes).size).toBe(100);
    expect(hashFactors(7).a & hashFactors(7).b & 1).toBe(1);
  });

  it('differs for names whose chunks differ in their top bits', () => {
    // With one multiplication for each chunk, a difference in a top bit stays there and the next chunk can cancel it.
    const header = headerOf(3);
    const first = parseName('ab\\000aaa\\000a.');
    for (const second of ['ab\\128aaa\\128a.', 'ab\\128aa\\001\\128a.', 'ab\\128aaa\\000a.']) {
      expect(hashName(header, parseName(second))).not.toBe(hashName(header, first));
    }
  });

  it('spreads names that follow a pattern over the slots of a table', () => {
    const header = headerOf(0);
    const slots = new Int32Array(2 ** 16);
    for (let i = 0; i < slots.length; i++) {
      const slot = hashName(header, parseName(`customer-${i}.example.`)) >>> 16;
      slots[slot] = (slots[slot] as number) + 1;
    }
    expect(Math.max(...slots)).toBeLessThan(12);
    const empty = slots.filter((count) => count === 0).length / slots.length;
    expect(empty).toBeGreaterThan(0.35); // 1/e, as for random numbers
    expect(empty).toBeLessThan(0.39);
  });
});
