// SHA-1 by hand against the library's, for messages of every length that a name and a salt can have.

import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { Sha1 } from '../../../../src/zone/image/find/sha1.ts';
import { randomFrom } from '../../../support/random/random-zones.ts';

function hexOf(sha1: Sha1): string {
  return [...sha1.digest].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

it('has the digest of messages of every length', () => {
  const random = randomFrom(1);
  const sha1 = new Sha1();
  for (let octets = 0; octets <= 510; octets++) {
    const message = Uint8Array.from({ length: octets }, () => Math.floor(random() * 256));
    sha1.message.set(message);
    sha1.hash(octets);
    expect(hexOf(sha1)).toBe(createHash('sha1').update(message).digest('hex'));
  }
});
