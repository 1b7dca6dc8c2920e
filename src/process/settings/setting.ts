// What is said of one setting, once: the program, its messages and docs/settings.md follow from it.

import type * as z from 'zod/mini';

export const PROCESSES = ['nameserver', 'API', 'workers'] as const;
export type ProcessName = (typeof PROCESSES)[number];

/** Those that run on their own, the observer, which runs elsewhere, `npm start`, which runs the others, and the command line. */
export type Reader = ProcessName | 'observer' | 'npm start' | 'CLI';

/** A default that is no fixed text: how the document says it, and how the program makes it. */
interface MadeDefault<T> {
  readonly words: string;
  readonly make: () => T;
}

export interface Setting<T, R extends Reader = Reader> {
  /** Of the environment variable. */
  readonly name: string;
  readonly readers: readonly R[];
  /** Reads the text. The message of its first issue says what is expected: `expected …`. */
  readonly schema: z.core.$ZodType<T, string>;
  /** A text goes through the schema. */
  readonly byDefault: string | MadeDefault<T>;
  /** How the document begins to describe it. */
  readonly is: string;
  /** Its value is never repeated in a message. */
  readonly isSecret?: boolean;
  /** An empty value means "none"; for all others it means unset. */
  readonly mayBeEmpty?: boolean;
}

/** The value of the setting has the type of its schema, or that of its default. */
export function setting<T, R extends Reader, D = never>(
  row: Omit<Setting<unknown>, 'readers' | 'schema' | 'byDefault'> & {
    readonly readers: readonly R[];
    readonly schema: z.core.$ZodType<T, string>;
    readonly byDefault: string | MadeDefault<D>;
  },
): Setting<T | D, R> {
  return row;
}

export const NONE: MadeDefault<undefined> = { words: 'none', make: () => undefined };
export const NOTHING_LISTED: MadeDefault<readonly never[]> = { words: 'none', make: () => [] };
