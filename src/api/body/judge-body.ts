// Judges a body by its route's schema, in the words of the API.

import type { z } from 'zod';
import { invalid, type Problem } from '../answers/problem.ts';
import type { Route } from '../calls/route.ts';
import { BODY, fieldProblems } from './field-problems.ts';

export function judgeBody(
  route: Pick<Route, 'explainInvalid'>,
  schema: z.ZodType,
  given: unknown,
): { readonly body: unknown } | Problem {
  const read = schema.safeParse(given);
  if (read.success) return { body: read.data };
  const fields = fieldProblems(read.error.issues, BODY);
  return route.explainInvalid?.(fields) ?? invalid(fields);
}
