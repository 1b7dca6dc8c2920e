// Assigns the API's warnings to the rows that they concern.

import type { RowKey } from './draft.ts';
import { relativeName } from './owner-name.ts';
import type { Row } from './rows.ts';

interface RowWarning {
  readonly name: string;
  readonly type: string;
  readonly message: string;
}

export type RowWarnings = ReadonlyMap<RowKey, readonly string[]>;
const NONE: RowWarnings = new Map();

/**
 * A warning has the name and the type of a record, but no id. If several rows match, those whose value appears in the message are
 * preferred. A deleted row has no warnings.
 */
export function warningsByRow(
  warnings: readonly RowWarning[],
  rows: readonly Row[],
  domain: string,
): RowWarnings {
  if (warnings.length === 0) return NONE;
  const types = new Set(warnings.map(({ type }) => type));
  const there = new Map<string, Row[]>();
  for (const row of rows) {
    if (row.state === 'deleted' || !types.has(row.typed.type)) continue;
    const key = keyOf(row.typed, domain);
    const same = there.get(key);
    if (same === undefined) there.set(key, [row]);
    else same.push(row);
  }
  const found = new Map<RowKey, string[]>();
  for (const warning of warnings) {
    const matching = there.get(keyOf(warning, domain)) ?? [];
    const named = matching.filter(({ typed }) => isNamedIn(warning.message, typed.destination));
    for (const { key } of named.length > 0 ? named : matching) {
      const messages = found.get(key) ?? [];
      if (!messages.includes(warning.message)) found.set(key, [...messages, warning.message]);
    }
  }
  return found;
}

function keyOf({ name, type }: { readonly name: string; readonly type: string }, domain: string): string {
  return `${relativeName(name, domain)} ${type}`;
}

function isNamedIn(message: string, destination: string): boolean {
  const value = destination.trim().toLowerCase().replace(/\.$/, '');
  return value !== '' && message.toLowerCase().includes(value);
}
