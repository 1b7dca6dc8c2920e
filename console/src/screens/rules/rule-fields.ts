// The form fields of each rule type, in the order in which they are shown.

/** All types, in the order in which edges apply them (docs/edge.md). */
export const TYPES = [
  'drop',
  'rate_limit',
  'bot_route',
  'fingerprint',
  'waf',
  'captcha',
  'redirect',
  'rewrite',
  'cache',
  'origin_route',
  'origin_pool',
  'error_page',
] as const;
export type RuleType = (typeof TYPES)[number];

/** Returns undefined if the text is not a type. In URLs of the API, `rate-limit` is also valid. */
export function typeOf(text: string | undefined): RuleType | undefined {
  const name = text?.replace('-', '_');
  return TYPES.find((each) => each === name);
}

/**
 * `lines`: a list with one entry per line. `words` and `numbers`: lists separated by spaces or commas. `optional`: a number or
 * null. `object`: whether an object of this name exists; its members are separate fields (`health.path`). `page`: a long text.
 * `origins`: the servers of a pool.
 */
export type FieldKind =
  | {
      readonly kind:
        | 'text'
        | 'number'
        | 'optional'
        | 'check'
        | 'lines'
        | 'words'
        | 'numbers'
        | 'object'
        | 'page'
        | 'origins';
    }
  | { readonly kind: 'choice'; readonly choices: readonly string[] };

export type FormField = {
  readonly name: string;
  readonly initial: string;
  /** The field is shown and sent only if another field has one of these values. */
  readonly when?: readonly [field: string, ...values: string[]];
  /** Sent as an empty value while it is hidden. */
  readonly isEmptied?: true;
  /** Shown only under more options, because most rules do not need it. */
  readonly isRare?: true;
} & FieldKind;

const PATHS: readonly FormField[] = [
  { name: 'path_includes', kind: 'lines', initial: '/*' },
  { name: 'path_excludes', kind: 'lines', initial: '' },
];
const FILTERS: readonly FormField[] = [
  {
    name: 'path_match_type',
    kind: 'choice',
    choices: ['wildcard', 'regex'],
    initial: 'wildcard',
    isRare: true,
  },
  {
    name: 'host_match_type',
    kind: 'choice',
    choices: ['', 'exact', 'wildcard', 'regex'],
    initial: '',
    isRare: true,
  },
  {
    name: 'host_pattern',
    kind: 'text',
    initial: '',
    when: ['host_match_type', 'exact', 'wildcard', 'regex'],
    isEmptied: true,
    isRare: true,
  },
  { name: 'priority', kind: 'number', initial: '100', isRare: true },
];
/** Rule types that support log-only mode. */
const DRY_RUN: FormField = {
  name: 'action_mode',
  kind: 'choice',
  choices: ['enforce', 'dry_run'],
  initial: 'enforce',
  isRare: true,
};

const OWN: Readonly<Record<RuleType, readonly FormField[]>> = {
  redirect: [
    { name: 'target', kind: 'text', initial: '' },
    { name: 'status_code', kind: 'choice', choices: ['301', '302', '307', '308'], initial: '302' },
    { name: 'preserve_query', kind: 'check', initial: 'true' },
    { name: 'preserve_path', kind: 'check', initial: 'false' },
  ],
  drop: [
    { name: 'country_match_type', kind: 'choice', choices: ['include', 'exclude'], initial: 'include' },
    { name: 'countries', kind: 'words', initial: '' },
  ],
  rate_limit: [
    { name: 'requests', kind: 'number', initial: '100' },
    { name: 'period_seconds', kind: 'number', initial: '60' },
    { name: 'key', kind: 'choice', choices: ['ip', 'ip_path', 'header'], initial: 'ip' },
    { name: 'header', kind: 'text', initial: '', when: ['key', 'header'] },
    { name: 'action', kind: 'choice', choices: ['block', 'captcha', 'delay'], initial: 'block' },
    { name: 'block_seconds', kind: 'number', initial: '60' },
  ],
  bot_route: [
    { name: 'bots', kind: 'choice', choices: ['unverified', 'verified', 'list'], initial: 'unverified' },
    { name: 'list', kind: 'lines', initial: '', when: ['bots', 'list'] },
    { name: 'action', kind: 'choice', choices: ['block', 'captcha', 'route', 'allow'], initial: 'block' },
    { name: 'destination', kind: 'text', initial: '', when: ['action', 'route'] },
  ],
  fingerprint: [
    { name: 'fingerprints', kind: 'words', initial: '' },
    { name: 'action', kind: 'choice', choices: ['block', 'captcha', 'allow'], initial: 'block' },
  ],
  waf: [
    { name: 'paranoia', kind: 'choice', choices: ['1', '2', '3', '4'], initial: '1' },
    { name: 'threshold', kind: 'number', initial: '5' },
    { name: 'body_cap_kb', kind: 'number', initial: '128' },
    { name: 'rule_excludes', kind: 'words', initial: '' },
  ],
  captcha: [
    { name: 'mode', kind: 'choice', choices: ['js', 'image'], initial: 'js' },
    { name: 'valid_seconds', kind: 'number', initial: '3600' },
  ],
  rewrite: [
    { name: 'path_target', kind: 'text', initial: '' },
    { name: 'query_mode', kind: 'choice', choices: ['preserve', 'strip', 'replace'], initial: 'preserve' },
    { name: 'query_target', kind: 'text', initial: '', when: ['query_mode', 'replace'] },
  ],
  cache: [
    { name: 'bypass', kind: 'check', initial: 'false' },
    { name: 'ttl_seconds', kind: 'number', initial: '3600', when: ['bypass', 'false'] },
    { name: 'browser_ttl_seconds', kind: 'optional', initial: '', when: ['bypass', 'false'] },
    { name: 'respect_origin', kind: 'check', initial: 'true', when: ['bypass', 'false'] },
    {
      name: 'key_query',
      kind: 'choice',
      choices: ['all', 'none', 'list'],
      initial: 'all',
      when: ['bypass', 'false'],
    },
    { name: 'key_query_list', kind: 'lines', initial: '', when: ['key_query', 'list'] },
    { name: 'key_headers', kind: 'words', initial: '', isRare: true },
  ],
  origin_route: [
    { name: 'destination', kind: 'text', initial: '' },
    { name: 'scheme', kind: 'choice', choices: ['https', 'http', 'auto', 'default'], initial: 'https' },
    { name: 'port', kind: 'number', initial: '443' },
    { name: 'host_header', kind: 'text', initial: '', isRare: true },
  ],
  origin_pool: [
    { name: 'origins', kind: 'origins', initial: '' },
    {
      name: 'method',
      kind: 'choice',
      choices: ['round_robin', 'hash', 'least_time'],
      initial: 'round_robin',
    },
    { name: 'health', kind: 'object', initial: 'false' },
    { name: 'health.path', kind: 'text', initial: '/', when: ['health', 'true'] },
    { name: 'health.status', kind: 'number', initial: '200', when: ['health', 'true'] },
    { name: 'health.interval_seconds', kind: 'number', initial: '30', when: ['health', 'true'] },
  ],
  error_page: [
    { name: 'status_codes', kind: 'numbers', initial: '' },
    {
      name: 'content_type',
      kind: 'choice',
      choices: ['text/html', 'text/plain', 'application/json'],
      initial: 'text/html',
    },
    { name: 'html', kind: 'page', initial: '' },
  ],
};

/** True if `action_mode: dry_run` is supported. Edges always enforce rules of other types. */
export function countsDryRun(type: RuleType): boolean {
  return TYPES.indexOf(type) <= TYPES.indexOf('redirect');
}

export function fieldsOf(type: RuleType): readonly FormField[] {
  return [...OWN[type], ...PATHS, ...FILTERS, ...(countsDryRun(type) ? [DRY_RUN] : [])];
}
