// Random changes of DNS messages, for proofs that no message causes an exception.

import { pick, type Random } from './random-zones.ts';

/** Offsets of the numbers of questions, answers, authority and additional records in the header. */
const COUNTS = [4, 6, 8, 10];
const HEADER_OCTETS = 12;

/** Returns a copy of a message with one to four changes. */
export function mutateOctets(random: Random, message: Buffer): Buffer {
  const below = (limit: number) => Math.floor(random() * limit);
  let copy: Buffer = Buffer.from(message);
  for (let i = below(4); i >= 0; i--) {
    const at = below(copy.length);
    const count = pick(random, COUNTS);
    switch (below(7)) {
      case 0: // another octet
        if (copy.length > 0) copy[at] = below(256);
        break;
      case 1: // another bit
        if (copy.length > 0) copy[at] = (copy[at] as number) ^ (1 << below(8));
        break;
      case 2: // truncated
        copy = copy.subarray(0, at);
        break;
      case 3: // a repeated part
        copy = Buffer.concat([copy.subarray(0, at), copy.subarray(below(at + 1))]);
        break;
      case 4: // another number of records
        if (copy.length < HEADER_OCTETS) break;
        copy.writeUInt16BE(pick(random, [below(4), 0xffff, below(65536)]), count);
        break;
      case 5: // a compression pointer, backwards, to itself or forwards
        if (at + 2 <= copy.length) copy.writeUInt16BE(0xc000 | below(copy.length + 2), at);
        break;
      default: // inserted octets
        copy = Buffer.concat([
          copy.subarray(0, at),
          Buffer.from(Array.from({ length: 1 + below(8) }, () => below(256))),
          copy.subarray(at),
        ]);
    }
  }
  return copy;
}
