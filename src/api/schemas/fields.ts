// Schemas of single values in paths, queries and bodies: ids, times, names, query parameters and bounded arrays.

import { z } from 'zod';
import { API_TYPES, type ApiType, readApiType } from '../../zone/records/customer-types.ts';
import { MAX_PROBLEMS } from '../answers/problem.ts';

const NO_ID = 'expected an id, a positive integer';

/** In a path, text that is not an id results in 404. */
export const idText = z
  .string()
  .regex(/^[1-9][0-9]{0,15}$/, NO_ID)
  .transform(Number)
  .refine(Number.isSafeInteger, NO_ID)
  .meta({ type: 'integer', minimum: 1, pattern: undefined });

export const Id = z.int().min(1);

export const Timestamp = z.iso.datetime().meta({ format: 'date-time', pattern: undefined });

/** Prints times as members of a response. A time that is null is omitted. */
export function moments<K extends string>(times: Readonly<Record<K, Date | null>>): { [M in K]?: string } {
  const set = Object.entries<Date | null>(times).filter(
    (entry): entry is [string, Date] => entry[1] !== null,
  );
  return Object.fromEntries(set.map(([name, time]) => [name, time.toISOString()])) as { [M in K]?: string };
}

export const Message = z.object({ message: z.string() }).meta({ id: 'Message' });

/** Control characters, and those that change the text direction. Persian and emoji need joiners. */
const UNSHOWN = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

/** A name that a person chooses, for themselves or for an object. Others read it, possibly in a terminal. */
export function nameText(maxCharacters: number) {
  return z
    .string()
    .min(1)
    .max(maxCharacters)
    .refine((text) => !UNSHOWN.test(text), 'must not contain control characters');
}

export function integerText(min: number, max: number) {
  return z
    .string()
    .regex(/^(0|[1-9][0-9]{0,15})$/, 'expected an integer')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `expected ${min} to ${max}`)
    .meta({ type: 'integer', minimum: min, maximum: max, pattern: undefined });
}

export const booleanText = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .meta({ type: 'boolean', enum: undefined });

/** A list in a query, such as `A,AAAA`. Each item is one of `values`, in any order and case. */
export function listText<const V extends string>(values: readonly V[]) {
  const known: ReadonlyMap<string, V> = new Map(values.map((value) => [value.toLowerCase(), value]));
  return z
    .string()
    .transform((text) => text.split(',').map((item) => known.get(item.trim().toLowerCase())))
    .refine(
      (items) => items.every((item) => item !== undefined),
      `expected a comma-separated list of ${values.join(', ')}`,
    )
    .transform((items) => items as V[])
    .meta({ type: 'string', description: `Comma-separated list of ${values.join(', ')}.` });
}

/** A list of record types in a query, such as `A,TYPE65280`, in any case. */
export const recordTypesText = z
  .string()
  .transform((text, context): ApiType[] =>
    text.split(',').flatMap((item) => {
      const read = readApiType(item.trim());
      if (read.kind === 'type') return [read.type];
      context.addIssue(read.message);
      return [];
    }),
  )
  .meta({ type: 'string', description: `Comma-separated list of ${API_TYPES.join(', ')} and TYPEnnn.` });

/** A sort key in a query, such as `name` or `-name`. */
export function sortText<const V extends string>(columns: readonly V[]) {
  return z
    .enum(columns.flatMap((column) => [column, `-${column}`] as const) as [V, ...V[]])
    .transform((text) => ({
      column: text.replace(/^-/, '') as V,
      descends: text.startsWith('-'),
    }));
}

type Parse = z.core.$ZodType['_zod']['parse'];
type Item = { value: unknown; issues: z.core.$ZodRawIssue[] };

/** Checks the length first and stops at the problem limit, so that invalid arrays are not expensive. */
const BoundedArray = z.core.$constructor<z.ZodArray>('BoundedArray', (schema, definition) => {
  z.ZodArray.init(schema, definition);
  const judgeItem = (value: unknown, context: Parameters<Parse>[1]): Item => {
    const judged = definition.element._zod.run({ value, issues: [] }, context);
    if (judged instanceof Promise) throw new z.core.$ZodAsyncError();
    return judged;
  };
  const parseWhole = schema._zod.parse;
  const maximum = Math.min(...maximaOf(definition.checks ?? []));
  schema._zod.parse = (payload, context) => {
    const given = payload.value;
    // Not an array, or too long: do not parse the items.
    if (!Array.isArray(given) || given.length > maximum) return parseWhole(payload, context);
    const items: unknown[] = [];
    for (const [index, value] of given.entries()) {
      const item = judgeItem(value, context);
      items.push(item.value);
      for (const issue of item.issues)
        payload.issues.push({ ...issue, path: [index, ...(issue.path ?? [])] });
      if (payload.issues.length >= MAX_PROBLEMS) break;
    }
    payload.value = items;
    return payload;
  };
});

function maximaOf(checks: readonly z.core.$ZodCheck[]): number[] {
  return checks.flatMap((check) =>
    check instanceof z.core.$ZodCheckMaxLength ? [check._zod.def.maximum] : [],
  );
}

export function boundedArray<T extends z.ZodType>(element: T): z.ZodArray<T> {
  return new BoundedArray({ type: 'array', element }) as z.ZodArray<T>;
}
