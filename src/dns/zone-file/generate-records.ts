// Generates the records of BIND's $GENERATE. Limits bound the number of records per file.

import type { Token } from '../record/token.ts';
import { compileRdata, compileTemplate, parseGenerateRange } from './expand-generate.ts';
import type { OpenFile } from './open-file.ts';
import { type RecordHead, readRecordHead } from './read-record-head.ts';

const MAX_RECORDS = 65_536;
const MAX_CHARACTERS = 16 * 2 ** 20;

interface GeneratedRecord {
  /** `next` is the index of the first rdata word in `words`. */
  readonly head: RecordHead;
  /** The owner, then the rdata. */
  readonly words: readonly [Token, ...Token[]];
}

export class RecordGenerator {
  readonly #typeOf: (mnemonic: string) => number | undefined;
  #records = 0;
  #characters = 0;

  constructor(typeOf: (mnemonic: string) => number | undefined) {
    this.#typeOf = typeOf;
  }

  /** Stops at the first problem. `words` are those of the directive. */
  *generate(words: readonly Token[], { problems }: OpenFile): Generator<GeneratedRecord> {
    const [rangeWord, ownerWord] = words as [Token, Token];
    const range = problems.attempt(rangeWord, 'range', () => parseGenerateRange(rangeWord.text));
    const owner = problems.attempt(ownerWord, 'owner', () => compileTemplate(ownerWord.text));
    const head = readRecordHead(words, 2, problems, this.#typeOf);
    if (head === undefined) return;
    const rdataPlace = words[head.next] ?? ownerWord;
    const rdata = problems.attempt(rdataPlace, undefined, () => compileRdata(words.slice(head.next)));
    if (range === undefined || owner === undefined || rdata === undefined) return;
    if (this.#records + range.count > MAX_RECORDS) {
      problems.add(rangeWord, `$GENERATE makes more than ${MAX_RECORDS} records in total`, 'range');
      return;
    }
    this.#records += range.count;
    for (let value = range.start; value <= range.stop; value += range.step) {
      const made = problems.attempt(rdataPlace, undefined, (): [Token, ...Token[]] => [
        { ...ownerWord, text: owner(value) },
        ...rdata(value),
      ]);
      if (made === undefined) return;
      for (const { text } of made) this.#characters += text.length;
      if (this.#characters > MAX_CHARACTERS) {
        problems.add(made[0], `$GENERATE makes more than ${MAX_CHARACTERS} characters in total`);
        return;
      }
      yield { head: { ...head, next: 1 }, words: made };
    }
  }
}
