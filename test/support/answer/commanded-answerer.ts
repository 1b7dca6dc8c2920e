// An answerer for tests of the UDP threads. The answer is the query with QR set, followed by the client's address. A
// query of twelve octets and a word is a command that causes a failure.

import { createRequire } from 'node:module';
import type { PacketAnswerer } from '../../../src/nameserver/answer/answer-query.ts';
import { OneByOne } from './one-by-one.ts';

export class Answerer extends OneByOne {
  readonly answer: PacketAnswerer['answer'] = (input, at, octets, out, outAt, room) => {
    const { address, at: addressAt, octets: addressOctets } = this.client;
    if (octets < 12) return 0;
    if (octets > 12 && octets < 20) command(Buffer.from(input.subarray(at + 12, at + octets)).toString());
    const length = Math.min(octets, room - addressOctets);
    for (let i = 0; i < length; i++) out[outAt + i] = input[at + i] as number;
    out[outAt + 2] = (out[outAt + 2] as number) | 0x80;
    for (let i = 0; i < addressOctets; i++) out[outAt + length + i] = address[addressAt + i] as number;
    return length + addressOctets;
  };
}

function command(word: string): void {
  if (word === 'throw') throw new Error('commanded');
  if (word === 'exit') process.exit(3);
  if (word === 'loop') for (;;);
  if (word === 'sleep') {
    const koffi = createRequire(import.meta.url)('koffi');
    koffi.load(null).func('unsigned int sleep(unsigned int)')(1000); // native code, which cannot be interrupted
  }
}
