// Values for the schemas of an OpenAPI document, as fast-check generates them: such as fit, with what makes sense for a field
// of that name, and such as have one thing wrong.

import fc from 'fast-check';
import { resolve, type Schema } from './json-schema.ts';

type Document = Parameters<typeof resolve>[0];

/** By the name of a field; undefined: whatever fits its schema. */
export type Sense = (name: string) => fc.Arbitrary<unknown> | undefined;

export function fittingValue(
  document: Document,
  schema: Schema,
  sense: Sense,
  name = '',
): fc.Arbitrary<unknown> {
  const known = resolve(document, schema);
  const generic = () => genericValue(document, known, sense);
  const sensible = sense(name);
  return sensible === undefined ? generic() : fc.oneof({ weight: 4, arbitrary: sensible }, generic());
}

function genericValue(document: Document, schema: Schema, sense: Sense): fc.Arbitrary<unknown> {
  const { type, minimum = 0, maximum = Number.MAX_SAFE_INTEGER, minLength = 0, maxLength = 300 } = schema;
  if (Array.isArray(schema.anyOf)) {
    return fc.oneof(...schema.anyOf.map((one: Schema) => fittingValue(document, one, sense)));
  }
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (typeof schema.pattern === 'string') return fc.stringMatching(new RegExp(schema.pattern, 'u'));
  switch (type) {
    case 'integer':
      return fc.integer({ min: Number(minimum), max: Number(maximum) });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'string':
      return fc.string({
        unit: 'grapheme',
        minLength: Number(minLength),
        maxLength: Math.min(Number(maxLength), 40),
      });
    case 'array':
      return fc.array(fittingValue(document, schema.items as Schema, sense), {
        minLength: Number(schema.minItems ?? 0),
        maxLength: Math.min(Number(schema.maxItems ?? 4), 4),
      });
    case 'object': {
      const fields = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
      const model = Object.fromEntries(
        fields.map(([name, field]) => [name, fittingValue(document, field, sense, name)]),
      );
      return fc.record(model, { requiredKeys: (schema.required ?? []) as never[] });
    }
    default:
      return fc.jsonValue();
  }
}

/** Strings that hurt: controls, U+0000, lone surrogates, very long ones. */
const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    '\0',
    '\ud800',
    'x'.repeat(5000),
    '__proto__',
    "'; drop table records;--",
    '%00',
    '..',
    '*.*',
  ),
);

const oddValue = fc.oneof(
  oddText,
  fc.constantFrom(null, -1, 0, 1.5, 2 ** 53, -(2 ** 63), 1e300, true, [], {}, [[]], ['']),
  fc.jsonValue(),
);

/** The value with one part of it replaced, taken away or added. */
export function spoilt(value: unknown): fc.Arbitrary<unknown> {
  return fc
    .tuple(fc.nat(), fc.constantFrom('replace', 'remove', 'add'), oddValue, oddText)
    .map(([at, how, odd, name]) => {
      const copy: unknown = structuredClone(value);
      const places = placesIn(copy);
      const place = places[at % Math.max(1, places.length)];
      if (place === undefined) return odd;
      const { parent, key } = place;
      if (how === 'add' && !Array.isArray(parent)) {
        Object.defineProperty(parent, name, {
          value: odd,
          enumerable: true,
          configurable: true,
          writable: true,
        });
      } else if (how === 'remove' && !Array.isArray(parent)) delete parent[key];
      else parent[key] = odd;
      return copy;
    });
}

interface Place {
  readonly parent: Record<string, unknown>;
  readonly key: string;
}

function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const parent = value as Record<string, unknown>;
  return Object.keys(parent).flatMap((key) => [{ parent, key }, ...placesIn(parent[key])]);
}
