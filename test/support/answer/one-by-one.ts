// Base of simulated answerers: answers the queries of a group one by one with `answer`.

import type { GroupAnswerer } from '../../../src/nameserver/answer/answer-query.ts';
import { Client } from '../../../src/nameserver/answer/client.ts';

export abstract class OneByOne implements GroupAnswerer {
  nowMs = 0;
  readonly client = new Client();
  readonly #queries: [input: Uint8Array, at: number, octets: number][] = [];

  abstract readonly answer: GroupAnswerer['answer'];

  read(i: number, input: Uint8Array, at: number, octets: number): void {
    this.#queries[i] = [input, at, octets];
  }

  load(): void {}

  answerRead(i: number, out: Uint8Array, outAt: number, room: number): number {
    return this.answer(...(this.#queries[i] as [Uint8Array, number, number]), out, outAt, room);
  }
}
