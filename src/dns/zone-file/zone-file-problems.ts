// Collects the problems of a zone file, with their positions, up to a limit: a file with more is probably not a zone file.

import { TextError, WireError } from '../errors.ts';
import type { Token } from '../record/token.ts';

/** Lines and columns count from 1. `field` is the part of the record at fault, if there is only one. */
export interface ZoneFileProblem {
  readonly file?: string;
  readonly line: number;
  readonly column: number;
  readonly field?: string;
  readonly message: string;
}

export type Place = Pick<Token, 'line' | 'column'>;

const MAX_PROBLEMS = 1000;
const MAX_MESSAGE_CHARACTERS = 400;

/** The problems of one file and the files that it includes. `in` returns another view of the same list. */
export class ZoneFileProblems {
  readonly list: ZoneFileProblem[];
  readonly #file: string | undefined;
  readonly #max: number;

  constructor(file: string | undefined, max = MAX_PROBLEMS, list: ZoneFileProblem[] = []) {
    this.#file = file;
    this.#max = max;
    this.list = list;
  }

  in(file: string): ZoneFileProblems {
    return new ZoneFileProblems(file, this.#max, this.list);
  }

  get areTooMany(): boolean {
    return this.list.length >= this.#max;
  }

  add({ line, column }: Place, message: string, field?: string): void {
    if (this.areTooMany) return;
    const isLast = this.list.length === this.#max - 1;
    this.list.push({
      ...(this.#file !== undefined && { file: this.#file }),
      line,
      column,
      ...(field !== undefined && { field }),
      message: isLast ? `there are more than ${this.#max} problems; the rest was not read` : shorten(message),
    });
  }

  /** Sorts problems by position, because some are found only at the end. Files stay in the order of their first problems. */
  sort(): void {
    if (this.areTooMany) return; // the last problem says this
    const files = [...new Set(this.list.map(({ file }) => file))];
    this.list.sort(
      (a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column,
    );
  }

  /**
   * Returns the result of `parse`. If it throws, adds a problem at the error's position or `place`, and returns undefined.
   */
  attempt<T>(place: Place, field: string | undefined, parse: () => T): T | undefined {
    try {
      return parse();
    } catch (error) {
      if (error instanceof TextError) {
        const { line, column } = error;
        const known = line === undefined || column === undefined ? place : { line, column };
        this.add(known, error.message, error.field ?? field);
      } else if (error instanceof WireError) {
        this.add(place, error.message, field);
      } else {
        throw error;
      }
      return undefined;
    }
  }
}

/** Messages quote the invalid text, which may be a whole file. */
function shorten(message: string): string {
  if (message.length <= MAX_MESSAGE_CHARACTERS) return message;
  const half = MAX_MESSAGE_CHARACTERS / 2;
  return `${message.slice(0, half)} … ${message.slice(-half)}`;
}
