// An Output that stores what a command writes, without a size limit.

import { Writable } from 'node:stream';
import { Output } from '../../../src/cli/terminal/output.ts';

export interface CapturedOutput {
  readonly output: Output;
  readonly out: string;
  readonly err: string;
}

export function captureOutput(json: boolean): CapturedOutput {
  const texts = { out: '', err: '' };
  const into = (key: keyof typeof texts) =>
    new Writable({
      write: (chunk, _encoding, done) => {
        texts[key] += String(chunk);
        done();
      },
    });
  const output = new Output(json, into('out'), into('err'));
  return {
    output,
    get out() {
      return texts.out;
    },
    get err() {
      return texts.err;
    },
  };
}
