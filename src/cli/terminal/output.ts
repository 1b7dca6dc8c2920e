// Output of a command: results to stdout and problems to stderr, or everything as one JSON document on stdout. If the reader
// closes the pipe (`| head`), `closed` becomes true and further writes are ignored.

import type { Writable } from 'node:stream';
import type { WriteStream } from 'node:tty';

/** Exit code of a command that Ctrl-C stopped: 128 + SIGINT, as in shells. */
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
    // A closed reader is the only write error that a command can handle.
    out.on('error', () => {
      this.#closed = true;
    });
    err.on('error', () => {});
  }

  /** True after the reader of stdout has closed it. */
  get closed(): boolean {
    return this.#closed;
  }

  /** True if stdout is a terminal with colours and NO_COLOR is not set. */
  get colours(): boolean {
    const out = this.#out as Partial<WriteStream>;
    return out.isTTY === true && out.hasColors?.() === true;
  }

  /** Resolves when the text is written, so that a slow reader slows down the writer instead of filling memory. */
  write(text: string): Promise<void> {
    return this.#closed ? Promise.resolve() : flushed(this.#out, text);
  }

  print(line: string): Promise<void> {
    return this.write(`${line}\n`);
  }

  complain(line: string): Promise<void> {
    return flushed(this.#err, `${line}\n`);
  }

  /** Prints what was done with something, which is named as in the JSON: `{ peer: 'second' }`. Returns the exit code. */
  async done(named: Readonly<Record<string, string>>, outcome: string): Promise<0> {
    const line = `${outcome} ${Object.values(named).join()}`;
    await this.print(this.json ? JSON.stringify({ ...named, outcome }) : line);
    return 0;
  }

  /** Prints why something is not done. Returns the exit code. */
  async refuse(named: Readonly<Record<string, string>>, message: string): Promise<1> {
    if (this.json) await this.print(JSON.stringify({ ...named, outcome: 'refused', message }));
    else await this.complain(`${Object.values(named).join()}: ${message}`);
    return 1;
  }
}

/** A result with its JSON, and its lines for stdout or stderr. */
export interface Item {
  readonly json: object;
  readonly lines?: readonly string[];
  readonly problems?: readonly string[];
}

/** A list of results followed by a summary, written as a stream: `{"<key>":[…],…summary}`. */
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

  /** Closes the list. `json` holds the other members of the document. */
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
