// Formats of setting values: numbers, durations, lists. Each has a short description of the expected value. Uses zod/mini,
// which loads in a quarter of the time, because the nameserver must start fast.

import * as z from 'zod/mini';
import { readSpan } from './read-span.ts';

export type Shape<T> = z.core.$ZodType<T, string>;

/** `read` returns undefined for an invalid text. */
export function shape<T>(expected: string, read: (text: string) => T | undefined): Shape<T> {
  const reading = z.transform((text: string, context): T => {
    const value = read(text);
    if (value !== undefined) return value;
    context.issues.push({ code: 'custom', message: expected, input: text });
    return z.NEVER;
  });
  return z.pipe(z.string(), reading);
}

export function matching(pattern: RegExp, expected: string): Shape<string> {
  return z.string().check(z.regex(pattern, expected));
}

export function oneOf<const T extends string>(texts: readonly T[], expected: string): Shape<T> {
  return shape(expected, (text) => texts.find((each) => each === text));
}

/** Items separated by commas. */
export function list<T>(item: Shape<T>, { separator = ',', mayBeEmpty = false } = {}): Shape<T[]> {
  const split = z.transform((text: string) =>
    text === '' && mayBeEmpty ? [] : text.split(separator).map((each) => each.trim()),
  );
  return z.pipe(z.pipe(z.string(), split), z.array(item));
}

export function integer(min: number, max: number, expected: string): Shape<number> {
  return shape(expected, (text) => {
    const value = Number(text);
    return /^\d{1,15}$/.test(text) && value >= min && value <= max ? value : undefined;
  });
}

/** The value, or undefined for `off`. */
export function orOff<T>(schema: Shape<T>, expected: string): Shape<T | undefined> {
  const off = z.pipe(
    z.literal('off'),
    z.transform(() => undefined),
  );
  return z.union([off, schema], expected) as unknown as Shape<T | undefined>;
}

/** A number of `unit`, or no limit. */
export function rate(unit: string): Shape<number | undefined> {
  const expected = `${unit}, 1 or more, or off`;
  return orOff(integer(1, 999_999_999, expected), expected);
}

/** In milliseconds. */
export const span = spanFrom(0, 'a time like 90s, 30m, 24h or 14d');

/** In milliseconds. */
export function spanFrom(leastMs: number, expected: string): Shape<number> {
  return shape(expected, (text) => {
    const value = readSpan(text);
    return value !== undefined && value >= leastMs ? value : undefined;
  });
}

/** A number of bytes, KiB, MiB or GiB. */
export function bytes(min: number, max: number, expected: string): Shape<number> {
  return shape(expected, (text) => {
    const [, digits, unit = ''] = /^(\d{1,15})([KMG]?)$/i.exec(text) ?? [];
    const value = Number(digits) * 1024 ** ' KMG'.indexOf(unit.toUpperCase() || ' ');
    return value >= min && value <= max ? value : undefined;
  });
}

export const onOrOff = shape('on or off', (text) => {
  if (/^(on|true|yes|1)$/i.test(text)) return true;
  return /^(off|false|no|0)$/i.test(text) ? false : undefined;
});
