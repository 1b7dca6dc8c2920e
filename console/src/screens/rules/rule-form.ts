// Conversion between rules and form fields, without JSX.

import type { FormField } from './rule-fields.ts';

/** Values by field name. */
export type Typed = Readonly<Record<string, string>>;
type Body = Record<string, unknown>;

export function typedOf(fields: readonly FormField[], rule: Readonly<Body>): Typed {
  return Object.fromEntries(
    fields.map((field) => {
      const value = valueAt(rule, field.name);
      if (field.kind === 'object') return [field.name, String(typeof value === 'object' && value !== null)];
      if (value === undefined || value === null) return [field.name, field.initial];
      return [field.name, textOf(field, value)];
    }),
  );
}

/** Members of a rule without a field, such as its records. */
export function othersOf(fields: readonly FormField[], rule: Readonly<Body>): Body {
  const asked = new Set(fields.map(({ name }) => name.split('.')[0]));
  return Object.fromEntries(Object.entries(rule).filter(([name]) => !asked.has(name)));
}

/** `health.path` is a member of the object `health`. */
function valueAt(rule: Readonly<Body>, name: string): unknown {
  let at: unknown = rule;
  for (const part of name.split('.')) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Body)[part];
  }
  return at;
}

function textOf({ kind }: FormField, value: unknown): string {
  if (kind === 'origins') return JSON.stringify(value);
  if (Array.isArray(value)) return value.join(kind === 'lines' ? '\n' : ' ');
  return String(value);
}

export function isAsked({ when }: FormField, typed: Typed): boolean {
  if (when === undefined) return true;
  const [field, ...values] = when;
  return values.includes(typed[field] ?? '');
}

/** True if `at` is the field or one of its members: `origins[0].host` is within `origins`. */
export function isWithin(at: string, field: string): boolean {
  return at === field || at.startsWith(`${field}.`) || at.startsWith(`${field}[`);
}

/** True if the form shows an error of the API at this field. */
export function showsError({ kind, name }: FormField, at: string): boolean {
  if (kind === 'check' || kind === 'object') return false;
  return isWithin(at, name) && (kind !== 'origins' || at.includes('].'));
}

/** Text that is not a number is sent unchanged, so that the API reports it. Omitted members keep their values. */
export function bodyOf(fields: readonly FormField[], typed: Typed): Body {
  const body: Body = {};
  for (const field of fields) {
    const isHere = isAsked(field, typed);
    if (!isHere && field.isEmptied !== true) continue;
    const [name = '', member] = field.name.split('.');
    const value = fieldValue(field, isHere ? (typed[field.name] ?? field.initial) : '');
    if (member === undefined) body[name] = value;
    else (body[name] as Body)[member] = value;
  }
  return body;
}

function fieldValue(field: FormField, text: string): unknown {
  switch (field.kind) {
    case 'text':
      return text.trim();
    case 'page':
      return text;
    case 'check':
      return text === 'true';
    case 'object':
      return text === 'true' ? {} : null;
    case 'lines':
      return entries(text, /\n/);
    case 'words':
      return entries(text, SEPARATORS).map((word) =>
        field.name === 'countries' ? word.toUpperCase() : word,
      );
    case 'numbers':
      return entries(text, SEPARATORS).map(numberOf);
    case 'number':
      return numberOf(text);
    case 'optional':
      return text.trim() === '' ? null : numberOf(text);
    case 'choice':
      return field.choices.every((choice) => /^\d+$/.test(choice)) ? numberOf(text) : text;
    case 'origins':
      return originsOf(text).map((origin) => ({
        ...origin,
        host: origin.host.trim(),
        port: numberOf(origin.port),
        weight: numberOf(origin.weight),
      }));
    default:
      return field satisfies never;
  }
}

const SEPARATORS = /[\s,;]+/;

function entries(text: string, separator: RegExp): string[] {
  return text
    .split(separator)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function numberOf(text: string): number | string {
  return /^-?\d+$/.test(text.trim()) ? Number(text) : text;
}

/** Fields of one server of a pool. */
export interface TypedOrigin {
  readonly host: string;
  readonly port: string;
  readonly scheme: string;
  readonly weight: string;
  readonly backup: boolean;
}

export const NEW_ORIGIN: TypedOrigin = { host: '', port: '443', scheme: 'https', weight: '1', backup: false };

/** Returns one empty server if there are none. Text written as JSON may have any form. */
export function originsOf(text: string): readonly TypedOrigin[] {
  const list: unknown = text === '' ? [] : JSON.parse(text);
  const origins = Array.isArray(list) ? list.filter((each) => typeof each === 'object' && each !== null) : [];
  if (origins.length === 0) return [NEW_ORIGIN];
  return origins.map(({ backup, ...origin }: Body) => {
    const given = (name: 'host' | 'port' | 'scheme' | 'weight') => String(origin[name] ?? NEW_ORIGIN[name]);
    return {
      ...{ host: given('host'), port: given('port'), scheme: given('scheme'), weight: given('weight') },
      backup: backup === true,
    };
  });
}

const READ_ONLY = [
  'id',
  'domain_id',
  'record_id',
  'type',
  'size',
  'disabled_reason',
  'unsupported',
  'created_at',
  'updated_at',
];

/** Prints the editable members of a rule as JSON. */
export function jsonOf(rule: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(rule).filter(([name]) => !READ_ONLY.includes(name));
  return JSON.stringify(Object.fromEntries(entries), undefined, 2);
}

/** Returns undefined if the text is not a JSON object. */
export function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

const STEP = 100;

interface Place {
  readonly id: number;
  readonly priority: number;
}

/** Moves a rule up or down, with spaced priorities. Returns undefined if it is already first or last. */
export function movedPlaces(rules: readonly Place[], id: number, by: -1 | 1): readonly Place[] | undefined {
  const from = rules.findIndex((rule) => rule.id === id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= rules.length) return undefined;
  const ids = rules.map((rule) => rule.id);
  ids.splice(from, 1);
  ids.splice(to, 0, id);
  return ids.map((each, i) => ({ id: each, priority: (i + 1) * STEP }));
}
