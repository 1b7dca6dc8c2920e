// The table of settings must match docs/settings.md.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { READERS_OF, SECRET_OF_FILE, SETTINGS } from '../../../src/process/settings/every-setting.ts';
import type { Setting } from '../../../src/process/settings/setting.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../../docs/settings.md'), 'utf8');
const settings: readonly Setting<unknown>[] = Object.values(SETTINGS);

/** Rows that begin with the name of a variable: name, default, readers, description. */
const rows = [...DOCUMENT.matchAll(/^\| `([A-Z][A-Z0-9_]+)` \| (.*?) \| (.*?) \| (.*) \|$/gm)].map(
  ([, name, byDefault, readers, is]) => ({ name, byDefault, readers, is: is as string }),
);

describe('the table of the settings', () => {
  it('names each variable once', () => {
    expect(READERS_OF.size).toBe(settings.length + SECRET_OF_FILE.size);
    expect(settings.filter(({ readers }) => readers.length === 0).map(({ name }) => name)).toEqual([]);
  });

  it('matches the document: names, defaults and readers', () => {
    expect(rows.map(({ name, byDefault, readers }) => [name, byDefault, readers])).toEqual(
      settings.map(({ name, byDefault, readers }) => [
        name,
        typeof byDefault === 'string' ? `\`${byDefault}\`` : byDefault.words,
        readers.map((reader) => (reader === 'npm start' ? '`npm start`' : reader)).join(', '),
      ]),
    );
  });

  it.each(settings)("has the start of the document's description of $name", ({ name, is }) => {
    expect(rows.find((row) => row.name === name)?.is.slice(0, is.length)).toBe(is);
  });
});

it('the document names no setting that does not exist', () => {
  const named = [...DOCUMENT.matchAll(/[`<]([A-Z]+(?:_[A-Z0-9]+)+)\b/g)].map(([, name]) => name as string);
  expect(named.length).toBeGreaterThan(settings.length);
  expect(named.filter((name) => !READERS_OF.has(name))).toEqual([]);
});

it('the document lists the settings that can be in a file', () => {
  const list = /These settings accept it:\n(.*)$/m.exec(DOCUMENT)?.[1] ?? '';
  const named = [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(named).toEqual([...SECRET_OF_FILE.values()].sort());
});
