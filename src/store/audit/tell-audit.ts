// Selects what an audit row records of a write: the fields of its action that changed, each limited in size.

import { type AuditAction, ruleOf } from './audit-actions.ts';

/** Fields by their API names. */
export type Told = Readonly<Record<string, unknown>>;

interface Sides {
  readonly before?: Told | undefined;
  readonly after?: Told | undefined;
}

const MAX_BYTES = 8 * 1024;
const MAX_CHARACTERS = 500;
const MAX_ITEMS = 50;
/** Postgres cannot store U+0000 or unpaired surrogates. */
const UNSTORABLE = /[\0\ud800-\udfff]/gu;
/** Zonefleet credentials, in case someone put one into a name. */
const CREDENTIAL = /\b(svc|ses|lnk|dev|inv|rsl|edge|zfv)_[0-9A-Za-z_-]{16,}/g;

/** Omits empty sides. */
export function recordedSides(action: AuditAction, { before, after }: Sides): Sides {
  const { fields } = ruleOf(action);
  const was = before && pick(fields, before);
  const is = after && pick(fields, after);
  if (was === undefined || is === undefined) return sides(was, is);
  const changed = fields.filter((field) => JSON.stringify(was[field]) !== JSON.stringify(is[field]));
  return sides(pick(changed, was), pick(changed, is));
}

function sides(before: Told | undefined, after: Told | undefined): Sides {
  return {
    ...(before !== undefined && Object.keys(before).length > 0 && { before: bounded(before) }),
    ...(after !== undefined && Object.keys(after).length > 0 && { after: bounded(after) }),
  };
}

function pick(fields: readonly string[], from: Told): Told {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = Object.hasOwn(from, field) ? plain(from[field]) : undefined;
      return value === undefined ? [] : [[field, value]];
    }),
  );
}

type Plain = string | number | boolean | null | Plain[] | { readonly [name: string]: Plain };

/** Converts a value to JSON of limited size. */
function plain(value: unknown, depth = 0): Plain | undefined {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'string') return short(value);
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== 'object' || depth > 1) return undefined;
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).flatMap((item) => plain(item, depth + 1) ?? []);
    return value.length > MAX_ITEMS ? [...items, `… ${value.length - MAX_ITEMS} more`] : items;
  }
  const members = Object.entries(value).slice(0, MAX_ITEMS);
  return Object.fromEntries(
    members.flatMap(([name, member]) => {
      const told = plain(member, depth + 1);
      return told === undefined ? [] : [[short(name), told]];
    }),
  );
}

function short(text: string): string {
  const masked = text.replaceAll(UNSTORABLE, '').replaceAll(CREDENTIAL, '$1_…');
  if (masked.length <= MAX_CHARACTERS) return masked;
  return `${masked.slice(0, MAX_CHARACTERS).replaceAll(UNSTORABLE, '')}…`;
}

function bounded(told: Told): Told {
  if (bytesOf(told) <= MAX_BYTES) return told;
  // Replaces the largest fields first, and keeps their names.
  const left = { ...told } as Record<string, unknown>;
  const largest = Object.keys(told).sort((a, b) => bytesOf(told[b]) - bytesOf(told[a]));
  for (const field of largest) {
    left[field] = '… too long';
    if (bytesOf(left) <= MAX_BYTES) break;
  }
  return left;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
