// Rules as people type them, without JSX: the fields of the common types, and what is sent of them.

export const TYPES = [
  'redirect',
  'drop',
  'rate_limit',
  'bot_route',
  'fingerprint',
  'waf',
  'captcha',
  'rewrite',
  'cache',
  'origin_route',
  'origin_pool',
  'error_page',
] as const;
export type RuleType = (typeof TYPES)[number];

export function typeOf(text: string | undefined): RuleType {
  return TYPES.find((each) => each === text) ?? 'redirect';
}

type FieldKind =
  | { readonly kind: 'text' | 'number' | 'check' | 'lines' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] };
export type FormField = { readonly name: string; readonly initial: string } & FieldKind;

const PATHS: readonly FormField[] = [
  { name: 'path_includes', kind: 'lines', initial: '/*' },
  { name: 'path_excludes', kind: 'lines', initial: '' },
  { name: 'priority', kind: 'number', initial: '100' },
];

const FORMS: Readonly<Partial<Record<RuleType, readonly FormField[]>>> = {
  redirect: [
    { name: 'target', kind: 'text', initial: '' },
    { name: 'status_code', kind: 'choice', choices: ['301', '302', '307', '308'], initial: '302' },
    { name: 'preserve_query', kind: 'check', initial: 'true' },
    { name: 'preserve_path', kind: 'check', initial: 'false' },
    ...PATHS,
  ],
  drop: [
    { name: 'country_match_type', kind: 'choice', choices: ['include', 'exclude'], initial: 'include' },
    { name: 'countries', kind: 'lines', initial: '' },
    ...PATHS,
  ],
  rate_limit: [
    { name: 'requests', kind: 'number', initial: '100' },
    { name: 'period_seconds', kind: 'number', initial: '60' },
    { name: 'key', kind: 'choice', choices: ['ip', 'ip_path', 'header'], initial: 'ip' },
    { name: 'header', kind: 'text', initial: '' },
    { name: 'action', kind: 'choice', choices: ['block', 'captcha', 'delay'], initial: 'block' },
    { name: 'block_seconds', kind: 'number', initial: '60' },
    ...PATHS,
  ],
};

/** Undefined: the type is edited as JSON. */
export function formOf(type: RuleType): readonly FormField[] | undefined {
  return FORMS[type];
}

export type Typed = Readonly<Record<string, string>>;

export function typedOf(fields: readonly FormField[], rule: Readonly<Record<string, unknown>>): Typed {
  return Object.fromEntries(
    fields.map(({ name, initial }) => {
      const value = Object.hasOwn(rule, name) ? rule[name] : undefined;
      if (value === undefined) return [name, initial];
      return [name, Array.isArray(value) ? value.join('\n') : String(value)];
    }),
  );
}

/** What is no number is sent as it was typed, so that the API says what is wrong with it. */
export function bodyOf(fields: readonly FormField[], typed: Typed): Record<string, unknown> {
  return Object.fromEntries(
    fields.map((field) => [field.name, fieldValue(field, typed[field.name] ?? field.initial)]),
  );
}

function fieldValue(field: FormField, text: string): unknown {
  switch (field.kind) {
    case 'text':
      return text.trim();
    case 'check':
      return text === 'true';
    case 'lines': {
      const separator = field.name === 'countries' ? /[\s,;]+/ : /\n/;
      const lines = text.split(separator).map((line) => line.trim());
      return lines
        .filter((line) => line !== '')
        .map((line) => (field.name === 'countries' ? line.toUpperCase() : line));
    }
    case 'number':
      return numberOf(text);
    case 'choice':
      return field.choices.every((choice) => /^\d+$/.test(choice)) ? numberOf(text) : text;
    default:
      return field satisfies never;
  }
}

function numberOf(text: string): number | string {
  return /^-?\d+$/.test(text.trim()) ? Number(text) : text;
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

/** A rule as JSON to be edited, without what cannot be. */
export function jsonOf(rule: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(rule).filter(([name]) => !READ_ONLY.includes(name));
  return JSON.stringify(Object.fromEntries(entries), undefined, 2);
}

/** Undefined: it is no JSON object. */
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

/** The order with one rule a place up or down, with priorities that leave room between. Undefined: it is at the end. */
export function movedPlaces(rules: readonly Place[], id: number, by: -1 | 1): readonly Place[] | undefined {
  const from = rules.findIndex((rule) => rule.id === id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= rules.length) return undefined;
  const ids = rules.map((rule) => rule.id);
  ids.splice(from, 1);
  ids.splice(to, 0, id);
  return ids.map((each, i) => ({ id: each, priority: (i + 1) * STEP }));
}
