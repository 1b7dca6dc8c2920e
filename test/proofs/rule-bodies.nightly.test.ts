// Wrong bodies of rules, made from the schemas that the API itself describes: each is a 400 that names the wrong field, and no
// rule is made.

import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MAX_PRIORITY } from '../../src/edge/rules/common-fields.ts';
import { startTestApi, type TestApi } from '../support/api/api.ts';
import { SMALLEST } from '../support/rules/smallest-bodies.ts';
import { scale } from '../support/tests/scale.ts';

const BODIES = scale(1000, 60);

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
}

let api: TestApi;
let schemas: Readonly<Record<string, Schema>>;

beforeAll(async () => {
  api = await startTestApi();
  await api.makeDomain('wrong.example', { planSlug: 'pro' });
  schemas = (await api.ask('GET', '/openapi.json', { as: null })).body.components.schemas;
});
afterAll(() => api.stop());

const nameOf = (type: string) =>
  type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Values that the schema of a field refuses. */
function wrongValue(given: Schema): fc.Arbitrary<unknown> {
  const schema =
    given.$ref === undefined ? given : (schemas[given.$ref.split('/').at(-1) as string] as Schema);
  const parts = (schema.anyOf ?? [schema]).filter(({ type }) => type !== 'null');
  return fc.oneof(...parts.map(wrongFor));
}

function wrongFor(schema: Schema): fc.Arbitrary<unknown> {
  const {
    type,
    minimum = 0,
    maximum = MAX_PRIORITY,
    maxLength = 2000,
    minLength = 0,
    minItems = 0,
    maxItems,
  } = schema;
  const otherTypes: fc.Arbitrary<unknown>[] = [fc.constant({ a: 1 }), fc.double({ min: 0.1, max: 0.9 })];
  if (type !== 'string') otherTypes.push(fc.string());
  if (type !== 'boolean') otherTypes.push(fc.boolean());
  if (type !== 'array') otherTypes.push(fc.array(fc.integer(), { maxLength: 3 }));
  if (type !== 'integer' && type !== 'number') otherTypes.push(fc.integer());
  const wrong = type === 'object' ? otherTypes.slice(1) : otherTypes;
  if (schema.enum !== undefined) {
    wrong.push(fc.oneof(fc.string(), fc.integer()).filter((value) => !schema.enum?.includes(value)));
  } else if (type === 'integer' || type === 'number') {
    wrong.push(
      fc.integer({ max: minimum - 1 }),
      fc.integer({ min: Math.min(maximum, 2 ** 52) + 1, max: 2 ** 53 }),
    );
  } else if (type === 'string') {
    wrong.push(fc.constantFrom('\u0001', 'a\r\n\u0001b', '/a\u007f', '\u0085'));
    wrong.push(fc.constant('a'.repeat(Math.max(maxLength, 262_144) + 1)));
    if (minLength > 0) wrong.push(fc.constant(''));
  } else if (type === 'array') {
    wrong.push(fc.array(wrongValue(schema.items as Schema), { minLength: 1, maxLength: 3 }));
    if (minItems > 0) wrong.push(fc.constant([]));
    if (maxItems !== undefined)
      wrong.push(fc.constant(Array.from({ length: maxItems + 1 }, (_, i) => `/${i}`)));
  } else if (type === 'object') {
    for (const [name, property] of Object.entries(schema.properties ?? {}))
      wrong.push(wrongValue(property).map((value) => ({ [name]: value })));
    wrong.push(fc.constant({ colour: 'red' }));
  }
  return fc.oneof(...wrong);
}

it.each(
  Object.keys(SMALLEST),
)(`%s: ${BODIES} wrong bodies are refused, and the field is named`, async (type) => {
  const { properties = {} } = schemas[`${nameOf(type)}RuleCreate`] as Schema;
  const fields = Object.entries(properties);
  expect(fields.length).toBeGreaterThan(11);
  const wrong = fc.oneof(
    ...fields.map(([field, schema]) => wrongValue(schema).map((value) => [field, value] as const)),
    fc.constant(['colour', 'red'] as const),
  );
  await fc.assert(
    fc.asyncProperty(wrong, async ([field, value]) => {
      const body = { ...SMALLEST[type], [field]: value };
      const answer = await api.ask('POST', `/domains/wrong.example/rules/${type}/`, { body });
      const shown = `${field}: ${String(JSON.stringify(value)).slice(0, 200)}: ${answer.text.slice(0, 300)}`;
      expect([answer.status, answer.body.code], shown).toEqual([400, 'validation_failed']);
      const named = answer.body.fields.map((fault: { field: string }) => fault.field.split(/[.[]/)[0]);
      expect(named, shown).toContain(field);
    }),
    { numRuns: BODIES },
  );
  expect((await api.ask('GET', `/domains/wrong.example/rules/${type}/`)).body).toEqual([]);
});

it('a regular expression costs a call a bounded time, and is refused or takes linear time', async () => {
  const bombs = [
    '((a{1000}){1000})',
    `(?:${'a'.repeat(900)}){1000}`,
    `(?:${'\\pL'.repeat(300)}){999}`,
    '(a{1000}(?i){1000})',
    'x{1000}'.repeat(140),
  ];
  for (const bomb of bombs) {
    const body = { path_match_type: 'regex', path_includes: [bomb] };
    const answer = await api.ask('POST', '/domains/wrong.example/rules/waf/', { body });
    expect([answer.status, answer.body.fields?.[0].field], bomb.slice(0, 30)).toEqual([
      400,
      'path_includes[0]',
    ]);
  }
  const nested = { path_match_type: 'regex', path_includes: ['^(a+)+$'] };
  expect((await api.ask('POST', '/domains/wrong.example/rules/waf/', { body: nested })).status).toBe(200);
});
