import { expect, test } from 'vitest';
import { sipHash } from '../../../src/nameserver/answer/sip-hash.ts';

const viewOf = (octets: Uint8Array) => new DataView(octets.buffer);
const KEY = Uint8Array.from({ length: 16 }, (_, i) => i);
const INPUT = Uint8Array.from({ length: 64 }, (_, i) => i);

function hashed(octets: number): string {
  const out = new Uint8Array(10);
  sipHash(viewOf(KEY), viewOf(INPUT), octets, viewOf(out), 1);
  return Buffer.from(out.subarray(1, 9)).toString('hex');
}

// The authors' vectors: key 00..0f, input 00, 01, 02 …
test.each([
  [0, '310e0edd47db6f72'],
  [1, 'fd67dc93c539f874'],
  [2, '5a4fa9d909806c0d'],
  [7, '37d1018bf50002ab'],
  [8, '6224939a79f5f593'],
  [15, 'e545be4961ca29a1'],
  [63, '724506eb4c328a95'],
])('SipHash-2-4 of %i octets', (octets, expected) => {
  expect(hashed(octets)).toBe(expected);
});
