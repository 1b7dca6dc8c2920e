// An answerer for tests of the UDP threads: an answer is the query with QR set, then the asker's address; a query of
// twelve octets and a word commands what must never happen.

import { createRequire } from 'node:module';
import type { PacketAnswerer } from '../../../src/nameserver/udp/packet-batch.ts';

export const COMMANDED_ANSWERER = import.meta.url;

export class Answerer implements PacketAnswerer {
  nowMs = 0;

  answer(
    input: Uint8Array,
    at: number,
    octets: number,
    out: Uint8Array,
    outAt: number,
    room: number,
    _transport: 0 | 1,
    from: Uint8Array,
    fromAt: number,
    fromOctets: number,
  ): number {
    if (octets < 12) return 0;
    if (octets > 12 && octets < 20) command(Buffer.from(input.subarray(at + 12, at + octets)).toString());
    const length = Math.min(octets, room - fromOctets);
    for (let i = 0; i < length; i++) out[outAt + i] = input[at + i] as number;
    out[outAt + 2] = (out[outAt + 2] as number) | 0x80;
    for (let i = 0; i < fromOctets; i++) out[outAt + length + i] = from[fromAt + i] as number;
    return length + fromOctets;
  }
}

function command(word: string): void {
  if (word === 'throw') throw new Error('commanded');
  if (word === 'exit') process.exit(3);
  if (word === 'loop') for (;;);
  if (word === 'sleep') {
    const koffi = createRequire(import.meta.url)('koffi');
    koffi.load(null).func('unsigned int sleep(unsigned int)')(1000); // native: it cannot be interrupted
  }
}
