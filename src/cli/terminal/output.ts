// Where a command's words go: results to stdout, problems to stderr, or all of them as one JSON document on stdout.
// A reader that hangs up (`| head`) is no error: `closed` says so, and writing becomes a no-op.

import type { Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';

/** The exit code of a command that Ctrl-C stopped: 128 + SIGINT, as shells have it. */
export const INTERRUPTED = 130;

export class Output {
  readonly json: boolean;
  readonly #out: Writable;
  readonly #err: Writable;
  #closed = false;

  constructor(json: boolean, out: Writable = process.stdout, err: Writable = process.stderr) {
    this.json = json;
    this.#out = out;
    this.#err = err;
    // The only cause of a failed write that a command can handle is a closed reader.
    out.on('error', () => {
      this.#closed = true;
    });
    err.on('error', () => {});
  }

  /** True once the reader of stdout is gone. */
  get closed(): boolean {
    return this.#closed;
  }

  /** True on a terminal that shows colours and whose user has not set NO_COLOR. */
  get colours(): boolean {
    const out = this.#out as Partial<WriteStream>;
    return out.isTTY === true && out.hasColors?.() === true;
  }

  /** Resolves when the text has left us, so that a slow reader slows the writer instead of filling memory. */
  write(text: string): Promise<void> {
    return this.#closed ? Promise.resolve() : flushed(this.#out, text);
  }

  print(line: string): Promise<void> {
    return this.write(`${line}\n`);
  }

  complain(line: string): Promise<void> {
    return flushed(this.#err, `${line}\n`);
  }
}

/** A result that has a JSON form and, for people, lines for stdout or stderr. */
export interface Item {
  readonly json: object;
  readonly lines?: readonly string[];
  readonly problems?: readonly string[];
}

/** A list of results followed by a summary, written as they come: `{"<key>":[…],…summary}`. */
export class Listing {
  readonly #output: Output;
  readonly #key: string;
  #started = false;

  constructor(output: Output, key: string) {
    this.#output = output;
    this.#key = key;
  }

  async add(item: Item): Promise<void> {
    if (this.#output.json) {
      const lead = this.#started ? ',\n' : `{${JSON.stringify(this.#key)}:[\n`;
      this.#started = true;
      await this.#output.write(lead + JSON.stringify(item.json));
      return;
    }
    if (item.lines?.length) await this.#output.print(item.lines.join('\n'));
    if (item.problems?.length) await this.#output.complain(item.problems.join('\n'));
  }

  /** Closes the list. `json` holds what stands beside it in the document. */
  async end(json: object, line?: string): Promise<void> {
    if (!this.#output.json) {
      if (line !== undefined) await this.#output.print(line);
      return;
    }
    const lead = this.#started ? '\n]' : `{${JSON.stringify(this.#key)}:[]`;
    const rest = JSON.stringify(json).slice(1);
    await this.#output.write(`${lead}${rest === '}' ? '' : ','}${rest}\n`);
  }
}

function flushed(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) resolve();
    else stream.write(text, () => resolve());
  });
}
