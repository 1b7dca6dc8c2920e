// An array that is counted before it is judged; judging its items stops at the twentieth problem, so that a call of
// wrong items costs no more than one of right ones. It is described like any other array.

import { z } from 'zod';
import { MAX_PROBLEMS } from '../answers/problem.ts';

type Parse = z.core.$ZodType['_zod']['parse'];
type Item = { value: unknown; issues: z.core.$ZodRawIssue[] };

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
    // No array, or too long: its items are not parsed.
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
