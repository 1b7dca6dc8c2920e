// Damage to an image, as a bug or a bad memory would leave it: what checksums of a file do not show.

import type { Image } from '../../../src/zone/image/image.ts';
import { HEADER, HEADER_BYTES } from '../../../src/zone/image/layout.ts';
import type { Random } from '../random/random-zones.ts';

/** Anywhere behind the words that are checked when an image is opened. */
export function damageImage(random: Random, image: Image, free: Int32Array): void {
  const kind = random();
  const bytes = new Uint8Array(image.buffer, 0, image.endBytes);
  const anywhere = HEADER_BYTES + Math.floor(random() * (bytes.length - HEADER_BYTES));
  if (kind < 0.5) bytes[anywhere] = (bytes[anywhere] as number) ^ (1 << Math.floor(random() * 8));
  else if (kind < 0.8) image.header[anywhere >> 2] = randomWord(random);
  else if (kind < 0.9) free[Math.floor(random() * free.length)] = randomWord(random);
  else {
    const word = [HEADER.HASH_SEED, HEADER.ZONE_TABLE, HEADER.APEX_DEPTHS, HEADER.ZONES, HEADER.USED];
    image.header[word[Math.floor(random() * word.length)] as number] = Math.floor(random() * 2 ** 20);
  }
}

/** Small ones, which lead to somewhere, are as likely as large ones. */
export function randomWord(random: Random): number {
  return Math.floor((random() - 0.5) * 2 ** (32 * random()));
}
