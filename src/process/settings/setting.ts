// Definition of a setting. The program, its messages and docs/settings.md use it.

import type * as z from 'zod/mini';

export const PROCESSES = ['nameserver', 'API', 'workers'] as const;
export type ProcessName = (typeof PROCESSES)[number];

/** The processes of a fleet, the remote observer, `npm start`, which runs the others, and the command line. */
export type Reader = ProcessName | 'observer' | 'npm start' | 'CLI';

/** A computed default: its description, and how the program computes it. */
interface MadeDefault<T> {
  readonly words: string;
  readonly make: () => T;
}

export interface Setting<T, R extends Reader = Reader> {
  /** Name of the environment variable. */
  readonly name: string;
  readonly readers: readonly R[];
  /** Parses the text. The message of its first issue describes the expected value: `expected …`. */
  readonly schema: z.core.$ZodType<T, string>;
  /** A text is parsed by the schema. */
  readonly byDefault: string | MadeDefault<T>;
  /** Start of the setting's description in the documentation. */
  readonly is: string;
  /** True if messages must never repeat its value. */
  readonly isSecret?: boolean;
  /** If true, an empty value means "none" instead of unset. */
  readonly mayBeEmpty?: boolean;
}

/** The value has the type of the schema or of the default. */
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
