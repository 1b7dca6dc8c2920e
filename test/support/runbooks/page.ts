// The commands of a page in docs/operating/runbooks: the indented blocks under each of its headings.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../tests/sources.ts';

interface Block {
  readonly heading: string;
  readonly script: string;
}

export class RunbookPage {
  readonly #name: string;
  readonly #blocks: Block[];

  constructor(name: string) {
    this.#name = name;
    const text = readFileSync(join(ROOT, `docs/operating/runbooks/${name}.md`), 'utf8');
    this.#blocks = text.split(/^#+ /m).flatMap((part) => {
      const heading = part.slice(0, part.indexOf('\n'));
      const blocks = part.match(/(?:^ {4}.*\n)+/gm) ?? [];
      // Blocks of a numbered list are indented by three more.
      return blocks.map((block) => ({ heading, script: block.replaceAll(/^ {4}(?: {3})?/gm, '') }));
    });
  }

  /** Returns the next block under this heading. */
  next(heading: string): string {
    const index = this.#blocks.findIndex((block) => block.heading === heading);
    const [block] = index < 0 ? [] : this.#blocks.splice(index, 1);
    if (block === undefined) throw new Error(`${this.#name}.md has no further commands under "${heading}"`);
    return block.script;
  }

  /** Returns the blocks that `next` has not returned. */
  rest(): string[] {
    return this.#blocks.map(({ script }) => script);
  }
}
