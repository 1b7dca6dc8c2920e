// Tidies the schemas of a description, which the plugin writes twice each.

import type { OpenAPIV3_1 } from 'openapi-types';

/**
 * Tidies the schemas. Each is there twice, as it is sent (`…Input`) and as it is answered: those without a reference
 * are left out, and one that is only sent gets its plain name.
 */
export function tidySchemas(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const { schemas = {} } = document.components ?? {};
  const used = new Set<string>();
  const note = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value ?? null).matchAll(/#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      note(schemas[name]);
    }
  };
  note(document.paths);
  const plainName = (name: string): string => {
    const plain = name.replace(/Input$/, '');
    return used.has(plain) ? name : plain;
  };
  const kept = Object.entries(schemas).filter(([name]) => used.has(name));
  document.components = {
    ...document.components,
    schemas: Object.fromEntries(kept.map(([name, schema]) => [plainName(name), tidySchema(schema, name)])),
  };
  const text = JSON.stringify(document).replaceAll(
    /(#\/components\/schemas\/)(\w+)"/g,
    (_, path: string, name: string) => `${path}${plainName(name)}"`,
  );
  return JSON.parse(text) as OpenAPIV3_1.Document;
}

function tidySchema(schema: object, name: string): object {
  const text = JSON.stringify(schema, (key, value) => {
    if (key === '$schema' || key === '$id') return undefined;
    if (key === 'maximum' && value === Number.MAX_SAFE_INTEGER) return undefined;
    // responses may get new members later; requests with unknown members are refused
    if (key === 'additionalProperties' && !name.endsWith('Input')) return undefined;
    return value;
  });
  return JSON.parse(text) as object;
}
