// Names that people choose for themselves and for their things. Others read them, also in a terminal: nothing in them moves the
// cursor, begins another line, or turns the direction of what follows.

import { z } from 'zod';

/** Joiners stay: Persian and emoji need them. */
const UNSHOWN = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;

export function nameText(maxCharacters: number) {
  return z
    .string()
    .min(1)
    .max(maxCharacters)
    .refine((text) => !UNSHOWN.test(text), 'has a control character');
}
