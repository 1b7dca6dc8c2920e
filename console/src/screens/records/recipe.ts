// Records as lines of text with placeholders, such as `www CNAME {host}`: the data of mail providers and templates.

import { type QuickRecord, readQuickLine } from './quick-add.ts';

export type Values = Readonly<Record<string, string | undefined>>;

export interface RecipeField {
  readonly key: string;
  /** Name and type of the record that needs the value. */
  readonly name: string;
  readonly type: string;
}

/** Returns the values that a person must enter for the lines. `{domain}` and `{dashes}` are known. */
export function fieldsOf(lines: readonly string[]): RecipeField[] {
  const fields = new Map<string, RecipeField>();
  for (const line of lines) {
    const [name = '', type = ''] = line.split(' ');
    for (const [, key = ''] of line.matchAll(/\{(\w+)\}/g))
      if (!['domain', 'dashes'].includes(key) && !fields.has(key)) fields.set(key, { key, name, type });
  }
  return [...fields.values()];
}

export interface Filled {
  /** In the order of the lines, without those that lack a value. */
  readonly lines: readonly QuickRecord[];
  /** Fields whose value makes its line wrong. */
  readonly wrong: readonly string[];
}

/** Fills in the values and reads the lines. A line that lacks a value is omitted. */
export function fill(lines: readonly string[], values: Values, domain: string): Filled {
  const known: Values = { ...values, domain, dashes: domain.replaceAll('.', '-') };
  const read = lines.flatMap((line) => {
    const keys = [...line.matchAll(/\{(\w+)\}/g)].map(([, key = '']) => key);
    const textOf = (key: string) => known[key]?.trim().replaceAll(/\s+/g, ' ') ?? '';
    if (keys.some((key) => textOf(key) === '')) return [];
    const found = readQuickLine(
      line.replaceAll(/\{(\w+)\}/g, (_, key: string) => textOf(key)),
      domain,
    );
    return found === undefined ? [] : [{ found, keys }];
  });
  return {
    lines: read.flatMap(({ found }) => ('record' in found ? [found.record] : [])),
    wrong: read.flatMap(({ found, keys }) => ('problem' in found ? keys : [])),
  };
}
