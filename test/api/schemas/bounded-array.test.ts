import { expect, it } from 'vitest';
import { z } from 'zod';
import { MAX_PROBLEMS } from '../../../src/api/answers/problem.ts';
import { boundedArray } from '../../../src/api/schemas/bounded-array.ts';
import { RecordsBatch } from '../../../src/api/schemas/records/batch.ts';
import { MAX_IMPORT_ITEMS, RecordsImport } from '../../../src/api/schemas/records/import.ts';

/** An item that counts how often it is judged. */
function counted() {
  const state = { judged: 0 };
  const item = z.number().refine((n) => {
    state.judged++;
    return n > 0;
  });
  return { state, item };
}

it('a list of wrong items is judged as far as its twentieth problem', () => {
  const { state, item } = counted();
  const { error } = boundedArray(item).safeParse(Array(100_000).fill(0));
  expect([error?.issues.length, state.judged]).toEqual([MAX_PROBLEMS, MAX_PROBLEMS]);
  expect(error?.issues.at(-1)?.path).toEqual([MAX_PROBLEMS - 1]);
});

it('a list that is too long is counted, and none of its items is judged', () => {
  const { state, item } = counted();
  for (const list of [boundedArray(item).max(10), boundedArray(item).min(1).max(10).describe('ten')]) {
    const { error } = list.safeParse(Array(11).fill(0));
    expect(error?.issues).toMatchObject([{ code: 'too_big', maximum: 10 }]);
  }
  expect(state.judged).toBe(0);
});

it('right items are all judged, and taken as their schema makes them', () => {
  const read = boundedArray(z.object({ n: z.number().default(7) })).safeParse([{}, { n: 1, more: 2 }]);
  expect(read.data).toEqual([{ n: 7 }, { n: 1 }]);
  expect(boundedArray(z.number()).safeParse({}).error?.issues).toMatchObject([{ expected: 'array' }]);
});

it('is described as any other array', () => {
  const describeIt = (schema: z.ZodType) => z.toJSONSchema(schema);
  expect(describeIt(boundedArray(z.string()).min(1).max(3))).toEqual(
    describeIt(z.array(z.string()).min(1).max(3)),
  );
});

it('a batch and an import of a hundred thousand wrong items have twenty problems', () => {
  const wrong = Array(100_000).fill(1);
  expect(RecordsBatch.safeParse({ create: wrong }).error?.issues).toHaveLength(MAX_PROBLEMS);
  expect(RecordsImport.safeParse({ records: wrong }).error?.issues).toHaveLength(MAX_PROBLEMS);
  const tooMany = RecordsImport.safeParse({ records: Array(MAX_IMPORT_ITEMS + 1).fill(1) });
  expect(tooMany.error?.issues).toMatchObject([{ code: 'too_big' }]);
});
