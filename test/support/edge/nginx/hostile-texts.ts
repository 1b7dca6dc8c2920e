// Texts that would be directives if they were not quoted, and rules of all types with them in every field. `zf_canary` is
// not a directive: nginx rejects a file in which it is parsed as one. `return 299` is one, and must never take effect.

import fc from 'fast-check';
import type { EdgeConfig } from '../../../../src/edge/edge-config.ts';
import type { EdgeRule } from '../../../../src/edge/edge-rule.ts';
import { RULE_TYPES } from '../../../../src/edge/rules/every-type.ts';
import { madeConfig, madeHost, madeOrigin } from '../made-config.ts';

export const hostileTexts: readonly string[] = [
  '"; zf_canary on; #',
  "'; zf_canary on; #",
  '; zf_canary on;',
  '} zf_canary on; {',
  '" } location = /canary { return 299; } #',
  '"; } } server { listen 80 default_server; return 299; } #',
  '\\"; zf_canary on; #',
  '\\\\"; zf_canary on; #',
  '\\',
  '\\\\',
  'a\\',
  '"',
  "'",
  '$host',
  '$zf_canary',
  '\u0024{zf_canary}',
  '\u0024{host',
  '$',
  '$$',
  '$1',
  '$12',
  '\u0024{1}',
  '#',
  ' ',
  '{}',
  '{',
  '}',
  '\n} zf_canary on;',
  '\r\nzf_canary on;',
  '\tzf_canary on;',
  '\0',
  '\u007f',
  '\u0085',
  '\u2028zf_canary on;',
  '\ud800',
  'é"é',
  '-->%>zf_canary',
  'include /etc/passwd;',
  'default',
  'hostnames',
  'include',
  'volatile',
  '~*.*',
  '/../../../etc/passwd',
  '%0d%0azf_canary',
  '%00',
  '%22;%20zf_canary',
  'x'.repeat(5_000),
  `${'x'.repeat(4_080)}"; zf_canary on;`,
  '(?<host>.*)',
  '(?<zf_rule>a)',
  '(*COMMIT)',
  '(?R)',
  '(?C1)',
  '\\K',
  '\\Q"; zf_canary on; \\E',
  '[]"; zf_canary on; ]',
  '(a+)+$',
  '(a|a)*$',
  '((a|ab)(bc|c))*',
  'a{1000}{1000}',
  '.*.*.*.*.*.*x',
  '[[:alpha:]',
  '(?i)x|"; zf_canary',
  '*'.repeat(300),
  '/*"*; zf_canary on;*',
];

const hostile = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc
    .array(fc.constantFrom(...hostileTexts, ...'/a*;{}()[]+|^-', '\\d', '$2'), { minLength: 1, maxLength: 6 })
    .map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme-ascii', maxLength: 30 }),
);

const number = fc.oneof(
  fc.integer({ min: 1, max: 500 }),
  fc.constantFrom(0, -1, 1.5, Number.NaN, 1e21, 2 ** 53),
);

/** `fields` may have wrong types: an edge trusts its configuration no more than necessary. */
function rule(id: number, type: EdgeRule['type'], text: () => unknown, any: () => unknown): EdgeRule {
  const list = () => [text(), text()];
  return {
    id,
    type,
    priority: 1,
    action_mode: id % 5 === 0 ? 'dry_run' : 'enforce',
    ...(id % 3 === 0 && { host: { type: ['exact', 'wildcard', 'regex'][(id % 9) / 3], pattern: text() } }),
    path: {
      type: id % 2 === 0 ? 'regex' : 'wildcard',
      includes: id % 4 === 0 ? list() : ['/*', text()],
      excludes: id % 7 === 0 ? list() : [],
    },
    ...FIELDS[type](text, any),
  } as unknown as EdgeRule;
}

type Draw = () => unknown;

const FIELDS: Readonly<Record<EdgeRule['type'], (text: Draw, any: Draw) => object>> = {
  drop: (text) => ({ country_match_type: 'include', countries: [text()] }),
  rate_limit: (text, any) => ({
    ...{ requests: any(), period_seconds: any(), block_seconds: any() },
    ...{ key: 'header', header: text(), action: 'block' },
  }),
  bot_route: (text) => ({ bots: 'list', list: [text(), 'bot'], action: 'route', destination: text() }),
  fingerprint: (text) => ({ fingerprints: [text()], action: 'block' }),
  waf: (text, any) => ({
    ...{ paranoia: any(), threshold: any(), body_cap_kb: any() },
    rule_excludes: [text(), '942100'],
  }),
  captcha: (text, any) => ({ mode: text(), valid_seconds: any() }),
  redirect: (text) => ({ target: text(), status_code: 302, preserve_query: true, preserve_path: true }),
  rewrite: (text) => ({ path_target: `/${text()}`, query_mode: 'replace', query_target: text() }),
  cache: (text, any) => ({
    ...{ ttl_seconds: any(), browser_ttl_seconds: any(), bypass: false, respect_origin: false },
    ...{ key_query: 'list', key_query_list: [text()], key_headers: [text()] },
  }),
  origin_route: (text, any) => ({ destination: text(), port: any(), scheme: 'http', host_header: text() }),
  origin_pool: (text, any) => ({
    origins: [{ host: text(), port: any(), scheme: 'http', weight: any(), backup: false }],
    method: 'hash',
  }),
  error_page: (text, any) => ({ status_codes: [any(), 404], html: text(), content_type: 'text/html' }),
};

/** Returns every type with one text in each of its fields, and valid values otherwise. */
export function configWith(domainId: number, domain: string, text: string): EdgeConfig {
  const [ofText, of60] = [() => text, () => 60];
  return configOf(domainId, domain, ofText, of60);
}

function configOf(domainId: number, domain: string, text: () => unknown, any: () => unknown): EdgeConfig {
  const told = text() as string;
  return madeConfig(domain, {
    domain_id: domainId,
    hosts: [
      { ...madeHost(`www.${domain}`, madeOrigin({ destination: '127.0.0.1', port: 9 })), captcha: true },
      madeHost(`${told}.${domain}`),
      madeHost(told),
    ],
    http01: [
      { host: told, token: told, key_authorization: told },
      { host: `www.${domain}`, token: told, key_authorization: 'a' },
      { host: `www.${domain}`, token: 'a', key_authorization: told },
    ],
    certificates: [{ id: 1, names: [told], not_after: told, sha256: told }],
    rules: RULE_TYPES.flatMap((type, i) =>
      [0, 1, 2, 3].map((j) => rule(domainId * 100 + i * 4 + j + 1, type, text, any)),
    ),
  });
}

export const hostileConfig = fc
  .tuple(fc.array(hostile, { minLength: 7, maxLength: 40 }), fc.array(number, { minLength: 5, maxLength: 9 }))
  .map(([texts, numbers]) => (domainId: number, domain: string) => {
    let [i, j] = [0, 0];
    const text = () => texts[i++ % texts.length];
    return configOf(domainId, domain, text, () => numbers[j++ % numbers.length]);
  });
