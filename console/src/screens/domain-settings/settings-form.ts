// Settings of a domain as form fields: their groups and bounds, and the changes in a form.

export type FieldKind =
  | { readonly kind: 'number'; readonly min: number; readonly max: number }
  | { readonly kind: 'switch' }
  | { readonly kind: 'size'; readonly sizes: readonly number[] };

const number = (min: number, max: number) => ({ kind: 'number', min, max }) as const;
const onOff = { kind: 'switch' } as const;

export const FIELDS = {
  cache_l2_max_gb: number(0, 1_000_000),
  cache_l2_ttl_days: number(1, 7),
  cache_cap_mb: { kind: 'size', sizes: [128, 256, 512, 2048, 4096] },
  sec_no_sniff: onOff,
  sec_referrer_policy: onOff,
  sec_strip_headers: onOff,
  markdown_for_agents: onOff,
  outage_alerts: onOff,
  uptime_threshold_pct: number(50, 100),
  uptime_window_min: number(2, 60),
  uptime_min_requests: number(0, 1_000_000_000),
  uptime_min_active_min: number(1, 60),
  uptime_recover_min: number(1, 1440),
} as const satisfies Record<string, FieldKind>;

export type FieldName = keyof typeof FIELDS;

export const GROUPS = {
  cache: ['cache_cap_mb', 'cache_l2_max_gb', 'cache_l2_ttl_days'],
  headers: ['sec_no_sniff', 'sec_referrer_policy', 'sec_strip_headers'],
  agents: ['markdown_for_agents'],
  uptime: [
    'outage_alerts',
    'uptime_threshold_pct',
    'uptime_window_min',
    'uptime_min_requests',
    'uptime_min_active_min',
    'uptime_recover_min',
  ],
} as const satisfies Record<string, readonly FieldName[]>;

export type GroupName = keyof typeof GROUPS;

export type Values = Readonly<Record<FieldName, number | boolean>>;
/** Values of edited fields, numbers as text. */
export type Draft = Readonly<Partial<Record<FieldName, string | boolean>>>;

export interface Changes {
  /** Returns only values that differ from the domain's. */
  readonly body: Partial<Record<FieldName, number | boolean>>;
  /** Returns the invalid fields with their allowed ranges. Undefined for a switch, which is always valid. */
  readonly wrong: Partial<Record<FieldName, { readonly min: number; readonly max: number } | 'number'>>;
}

export function shownIn(field: FieldName, draft: Draft, values: Values): string | boolean {
  const value = draft[field] ?? values[field];
  return typeof value === 'boolean' ? value : String(value);
}

export function changesOf(fields: readonly FieldName[], draft: Draft, values: Values): Changes {
  const body: Changes['body'] = {};
  const wrong: Changes['wrong'] = {};
  for (const field of fields) {
    const typed = draft[field];
    if (typed === undefined) continue;
    const of: FieldKind = FIELDS[field];
    if (typeof typed === 'boolean') {
      if (typed !== values[field]) body[field] = typed;
      continue;
    }
    const value = /^\s*\d{1,10}\s*$/.test(typed) ? Number(typed) : undefined;
    if (value === undefined) wrong[field] = of.kind === 'number' ? { min: of.min, max: of.max } : 'number';
    else if (of.kind === 'number' && (value < of.min || value > of.max)) {
      wrong[field] = { min: of.min, max: of.max };
    } else if (value !== values[field]) body[field] = value;
  }
  return { body, wrong };
}
