// Checks values against the schemas of an OpenAPI document. It supports exactly the keywords of Zonefleet's
// documents. An unknown keyword is an error, so that nothing passes unchecked.

export interface Schema {
  readonly [keyword: string]: unknown;
}

type Document = { readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> } };

/** Keywords without effect on validation. */
const ABOUT = new Set(['description', 'default', 'title', 'examples']);

export function resolve(document: Document, schema: Schema): Schema {
  if (typeof schema.$ref !== 'string') return schema;
  const name = schema.$ref.replace('#/components/schemas/', '');
  const found = document.components?.schemas?.[name] as Schema | undefined;
  if (found === undefined) throw new Error(`${schema.$ref} leads nowhere`);
  return resolve(document, found);
}

/** Returns the errors in the value, with their paths. */
export function faultsOf(document: Document, schema: Schema, value: unknown, at = 'value'): string[] {
  const known = resolve(document, schema);
  return Object.entries(known).flatMap(([keyword, wanted]) => {
    if (ABOUT.has(keyword)) return [];
    const check = CHECKS[keyword];
    if (check === undefined) throw new Error(`the keyword ${keyword} is not known here`);
    return check({ document, schema: known, wanted, value, at });
  });
}

interface Asked {
  readonly document: Document;
  readonly schema: Schema;
  readonly wanted: unknown;
  readonly value: unknown;
  readonly at: string;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A keyword that applies to values of one type only. */
function on<T>(is: (value: unknown) => value is T, test: (value: T, wanted: never, asked: Asked) => boolean) {
  return (asked: Asked): string[] => {
    if (!is(asked.value) || test(asked.value, asked.wanted as never, asked)) return [];
    return [`${asked.at}: ${brief(asked.value)} breaks ${brief(asked.wanted)}`];
  };
}
const aString = (value: unknown): value is string => typeof value === 'string';
const aNumber = (value: unknown): value is number => typeof value === 'number';
const aList = (value: unknown): value is unknown[] => Array.isArray(value);
const anything = (_value: unknown): _value is unknown => true;

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: aString,
  number: aNumber,
  integer: Number.isSafeInteger,
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: aList,
  object: isObject,
};

const CHECKS: Readonly<Record<string, (asked: Asked) => string[]>> = {
  type: on(anything, (value, wanted: string | string[]) =>
    [wanted].flat().some((type) => TYPES[type]?.(value)),
  ),
  enum: on(anything, (value, wanted: unknown[]) => wanted.includes(value)),
  const: on(anything, (value, wanted: unknown) => value === wanted),
  minimum: on(aNumber, (value, wanted: number) => value >= wanted),
  maximum: on(aNumber, (value, wanted: number) => value <= wanted),
  minLength: on(aString, (value, wanted: number) => [...value].length >= wanted),
  maxLength: on(aString, (value, wanted: number) => [...value].length <= wanted),
  pattern: on(aString, (value, wanted: string) => new RegExp(wanted, 'u').test(value)),
  format: on(aString, (value, wanted: string) => {
    if (wanted === 'uuid') return true; // its pattern covers this
    if (wanted !== 'date-time') throw new Error(`the format ${wanted} is not known here`);
    return (
      /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(value) &&
      !Number.isNaN(Date.parse(value))
    );
  }),
  minItems: on(aList, (value, wanted: number) => value.length >= wanted),
  maxItems: on(aList, (value, wanted: number) => value.length <= wanted),
  required: on(isObject, (value, wanted: string[]) => wanted.every((name) => Object.hasOwn(value, name))),
  items: ({ document, wanted, value, at }) =>
    aList(value) ? value.flatMap((item, i) => faultsOf(document, wanted as Schema, item, `${at}[${i}]`)) : [],
  properties: ({ document, wanted, value, at }) =>
    isObject(value)
      ? Object.entries(wanted as Record<string, Schema>)
          .filter(([name]) => Object.hasOwn(value, name))
          .flatMap(([name, schema]) => faultsOf(document, schema, value[name], `${at}.${name}`))
      : [],
  propertyNames: ({ document, wanted, value, at }) =>
    isObject(value)
      ? Object.keys(value).flatMap((name) => faultsOf(document, wanted as Schema, name, `the name in ${at}`))
      : [],
  additionalProperties: ({ document, schema, wanted, value, at }) => {
    if (!isObject(value)) return [];
    const named = (schema.properties ?? {}) as object;
    const more = Object.keys(value).filter((name) => !Object.hasOwn(named, name));
    if (wanted === false) return more.map((name) => `${at}.${name} is not declared`);
    return more.flatMap((name) => faultsOf(document, wanted as Schema, value[name], `${at}.${name}`));
  },
  anyOf: ({ document, wanted, value, at }) => {
    const tried = (wanted as Schema[]).map((schema) => faultsOf(document, schema, value, at));
    return tried.some((faults) => faults.length === 0) ? [] : tried.flat();
  },
};

function brief(value: unknown): string {
  return (JSON.stringify(value) ?? 'undefined').slice(0, 80);
}
