// Generates values for the schemas of an OpenAPI document with fast-check, and invalid variants with one error.

import fc from 'fast-check';
import { resolve, type Schema } from './json-schema.ts';

type Document = Parameters<typeof resolve>[0];

export function fittingValue(document: Document, schema: Schema): fc.Arbitrary<unknown> {
  const known = resolve(document, schema);
  const { type, minimum = 0, maximum = Number.MAX_SAFE_INTEGER, minLength = 0, maxLength = 300 } = known;
  if (Array.isArray(known.anyOf))
    return fc.oneof(...known.anyOf.map((one: Schema) => fittingValue(document, one)));
  if (Array.isArray(known.enum)) return fc.constantFrom(...known.enum);
  if (known.const !== undefined) return fc.constant(known.const);
  if (typeof known.pattern === 'string') return fc.stringMatching(new RegExp(known.pattern, 'u'));
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
      return fc.array(fittingValue(document, known.items as Schema), {
        minLength: Number(known.minItems ?? 0),
        maxLength: Math.min(Number(known.maxItems ?? 4), 4),
      });
    case 'object': {
      const fields = Object.entries((known.properties ?? {}) as Record<string, Schema>);
      const model = Object.fromEntries(fields.map(([name, field]) => [name, fittingValue(document, field)]));
      return fc.record(model, { requiredKeys: (known.required ?? []) as never[] });
    }
    default:
      return fc.jsonValue();
  }
}

/** Problematic strings: control characters, U+0000, lone surrogates, very long ones. */
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

/** Replaces, removes or adds one part of a value. */
export const spoiling: fc.Arbitrary<(value: unknown) => unknown> = fc
  .tuple(fc.nat(), fc.constantFrom('replace', 'remove', 'add'), oddValue, oddText)
  .map(([at, how, odd, name]) => (value) => {
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

interface Place {
  readonly parent: Record<string, unknown>;
  readonly key: string;
}

function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const parent = value as Record<string, unknown>;
  return Object.keys(parent).flatMap((key) => [{ parent, key }, ...placesIn(parent[key])]);
}
