// Query parameters are text: these schemas check the text, and describe its meaning.

import { z } from 'zod';
import { API_TYPES, type ApiType, readApiType } from '../../zone/records/customer-types.ts';

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

/** A list as `A,AAAA`: each item is one of `values`, in any order and any case. */
export function listText<const V extends string>(values: readonly V[]) {
  const known: ReadonlyMap<string, V> = new Map(values.map((value) => [value.toLowerCase(), value]));
  return z
    .string()
    .transform((text) => text.split(',').map((item) => known.get(item.trim().toLowerCase())))
    .refine(
      (items) => items.every((item) => item !== undefined),
      `expected a comma list of ${values.join(', ')}`,
    )
    .transform((items) => items as V[])
    .meta({ type: 'string', description: `Comma list of ${values.join(', ')}.` });
}

/** A list of types as `A,TYPE65280`, in any case. */
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
  .meta({ type: 'string', description: `Comma list of ${API_TYPES.join(', ')}, and TYPEnnn.` });

/** A sort key as `name` or `-name`. */
export function sortText<const V extends string>(columns: readonly V[]) {
  return z
    .enum(columns.flatMap((column) => [column, `-${column}`] as const) as [V, ...V[]])
    .transform((text) => ({
      column: text.replace(/^-/, '') as V,
      descends: text.startsWith('-'),
    }));
}
