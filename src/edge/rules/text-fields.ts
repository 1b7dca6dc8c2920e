// Text fields of rules. Edges write them to configuration files, so control characters are rejected.

import { z } from 'zod';

const CONTROL = /\p{Cc}/u;
const CONTROL_BUT_LINES = /[^\P{Cc}\n\r\t]/u;
const NO_CONTROL = 'must not have control characters';

/** One line of text. */
export function line(maximum: number, minimum = 0): z.ZodString {
  return z
    .string()
    .min(minimum)
    .max(maximum)
    .refine((text) => !CONTROL.test(text), NO_CONTROL);
}

/** Text with several lines, limited in octets of UTF-8. */
export function page(octets: number): z.ZodString {
  return z
    .string()
    .min(1)
    .refine((text) => text.length <= octets && octetsOf(text) <= octets, `expected at most ${octets} octets`)
    .refine(
      (text) => text.length > octets || !CONTROL_BUT_LINES.test(text),
      `${NO_CONTROL} except line breaks and tabs`,
    );
}

function octetsOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** A list without duplicates. */
export function distinct<T extends z.ZodType>(item: T, maximum: number, minimum = 0): z.ZodArray<T> {
  return z
    .array(item)
    .min(minimum)
    .max(maximum)
    .superRefine((items, context) => {
      const seen = new Set<unknown>();
      for (const [i, each] of items.entries()) {
        if (seen.has(each)) context.addIssue({ code: 'custom', path: [i], message: 'is listed twice' });
        seen.add(each);
      }
    });
}
