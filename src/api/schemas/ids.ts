// Ids in paths and bodies.

import { z } from 'zod';

const NO_ID = 'expected an id, a positive integer';

/** In a path, text that is not an id leads to a 404. */
export const idText = z
  .string()
  .regex(/^[1-9][0-9]{0,15}$/, NO_ID)
  .transform(Number)
  .refine(Number.isSafeInteger, NO_ID)
  .meta({ type: 'integer', minimum: 1, pattern: undefined });

export const Id = z.int().min(1);
