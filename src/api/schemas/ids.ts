// Ids in paths and bodies.

import { z } from 'zod';

/** In a path. What is no id is the path of nothing: 404. */
export const idText = z
  .string()
  .regex(/^[1-9][0-9]{0,15}$/)
  .transform(Number)
  .refine(Number.isSafeInteger)
  .meta({ type: 'integer', minimum: 1, pattern: undefined });

export const Id = z.int().min(1);
