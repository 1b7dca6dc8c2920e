import { describe, expect, it } from 'vitest';
import type { RuleType } from '../../src/edge/edge-rule.ts';
import { edgeRuleOf, findRuleKind, kindOf, RULE_KINDS, RULE_TYPES } from '../../src/edge/rules/every-type.ts';
import { SMALLEST } from '../support/rules/smallest-bodies.ts';
import { wordsOf } from '../support/tests/rows-of.ts';

const judge = (type: RuleType, body: object) => kindOf(type).schema.safeParse({ ...SMALLEST[type], ...body });

function faults(type: RuleType, body: object): string[] {
  const judged = judge(type, body);
  return judged.success ? [] : [...new Set(judged.error.issues.map(({ path }) => path.join('.')))];
}

describe('the types', () => {
  it('are evaluated in this order', () => {
    expect(RULE_TYPES).toEqual(
      wordsOf(`drop rate_limit bot_route fingerprint waf captcha redirect rewrite cache origin_route origin_pool
        error_page`),
    );
  });

  it('are found by both spellings, and by no other', () => {
    for (const { type } of RULE_KINDS) {
      expect(findRuleKind(type)?.type).toBe(type);
      expect(findRuleKind(type.replace('_', '-'))?.type).toBe(type);
    }
    for (const other of '|WAF|rate__limit|ratelimit|rate limit|rules|__proto__|constructor'.split('|'))
      expect(findRuleKind(other)).toBeUndefined();
  });

  it('have defaults for all but a few fields', () => {
    for (const { type, schema } of RULE_KINDS) {
      expect(schema.safeParse({}).success).toBe(Object.keys(SMALLEST[type] ?? {}).length === 0);
      expect(judge(type, {}).success, type).toBe(true);
    }
  });

  it.each(RULE_KINDS.map(({ type }) => type))('%s has the common defaults', (type) => {
    expect(judge(type, {}).data).toMatchObject({
      enabled: true,
      priority: 100,
      record_ids: [],
      host_pattern: '',
      host_match_type: '',
      action_mode: 'enforce',
      path_match_type: 'wildcard',
      path_includes: ['/*'],
      path_excludes: [],
    });
    expect(faults(type, { action_mode: 'log' })).toEqual(['action_mode']);
  });

  it.each<[RuleType, object]>([
    ['waf', { paranoia: 1, threshold: 5, body_cap_kb: 128, rule_excludes: [] }],
    ['redirect', { status_code: 302, preserve_query: true, preserve_path: false }],
    ['rewrite', { query_mode: 'preserve' }],
    ['drop', { country_match_type: 'include', countries: [] }],
    ['cache', { ttl_seconds: 3600, key_query: 'all', bypass: false, respect_origin: true }],
    ['captcha', { mode: 'js', valid_seconds: 3600 }],
    ['rate_limit', { requests: 100, period_seconds: 60, key: 'ip', action: 'block', block_seconds: 60 }],
    ['bot_route', { bots: 'unverified', list: [], action: 'block' }],
    ['origin_route', { port: 443, scheme: 'https', host_header: '' }],
    ['origin_pool', { method: 'round_robin' }],
    [
      'origin_pool',
      { origins: [{ host: '192.0.2.1', port: 443, weight: 1, backup: false, scheme: 'https' }] },
    ],
    ['fingerprint', { action: 'block' }],
    ['error_page', { content_type: 'text/html' }],
  ])('%s has the defaults %j', (type, defaults) => {
    expect(judge(type, {}).data).toMatchObject(defaults);
  });

  it('drop accepts country codes in lower case', () => {
    expect(judge('drop', { countries: ['de', 'Fr'] }).data).toMatchObject({ countries: ['DE', 'FR'] });
  });

  it.each<[RuleType, string, unknown[], unknown[]]>([
    ['waf', 'priority', [0, 1_000_000], [-1, 'high', 2 ** 31]],
    ['waf', 'enabled', [true, false], [1]],
    ['waf', 'host_match_type', [''], ['prefix']],
    ['waf', 'paranoia', [1, 4], [0, 5, 1.5, '1']],
    ['waf', 'threshold', [1, 100], [0, 101]],
    ['waf', 'body_cap_kb', [0, 1024], [-1, 1025]],
    ['redirect', 'status_code', [301, 302, 307, 308], [300, 303, 200, '302']],
    ['redirect', 'target', ['/path'], ['', undefined, 'a\r\nb']],
    ['rewrite', 'path_target', ['/new'], [undefined]],
    ['rewrite', 'query_mode', ['preserve', 'replace', 'strip'], ['drop', '']],
    ['drop', 'country_match_type', ['include', 'exclude'], ['both']],
    ['rate_limit', 'requests', [1, 1_000_000], [0, 1_000_001]],
    ['captcha', 'mode', ['js', 'image'], ['audio']],
  ])('%s accepts only values of %s within its limits', (type, field, right, wrong) => {
    for (const value of right) expect(judge(type, { [field]: value }).data).toMatchObject({ [field]: value });
    for (const value of wrong) expect(faults(type, { [field]: value }), String(value)).toEqual([field]);
  });

  it.each(
    RULE_KINDS.map(({ type }) => type),
  )('%s: the edge configuration has all of it, and dry_run if supported', (type) => {
    const body = judge(type, { action_mode: 'dry_run', priority: 7 }).data;
    const told = edgeRuleOf(type, 5, body as NonNullable<typeof body>, ['www.example.com']);
    const acts = ['rewrite', 'cache', 'origin_route', 'origin_pool', 'error_page'].includes(type);
    expect(told).toMatchObject({
      id: 5,
      type,
      priority: 7,
      action_mode: acts ? 'enforce' : 'dry_run',
      hosts: ['www.example.com'],
      path: { type: 'wildcard', includes: ['/*'], excludes: [] },
    });
    expect(told).not.toHaveProperty('host');
    expect(JSON.stringify(told)).not.toContain('null');
  });
});

describe('the filters of a rule', () => {
  it('for hosts are set and cleared together', () => {
    const of = (host_pattern?: string, host_match_type?: string) =>
      faults('waf', { host_pattern, host_match_type });
    expect(of('a.example.com')).toEqual(['host_match_type']);
    expect(of(undefined, 'exact')).toEqual(['host_pattern']);
    expect([of('*.example.com', 'wildcard'), of('^(a|b)\\.', 'regex')]).toEqual([[], []]);
    for (const wrong of [of('*.example.com', 'exact'), of('(', 'regex')])
      expect(wrong).toEqual(['host_pattern']);
  });

  it('for paths are wildcards for whole paths, or regular expressions', () => {
    expect(faults('waf', { path_includes: ['/a*', '*.php'], path_excludes: ['/b'] })).toEqual([]);
    expect(faults('waf', { path_includes: ['/a', 'b'] })).toEqual(['path_includes.1']);
    expect(faults('waf', { path_includes: [] })).toEqual(['path_includes']);
    expect(faults('waf', { path_includes: [`/${'*a'.repeat(17)}`] })).toEqual(['path_includes.0']);
    expect(
      faults('waf', { path_match_type: 'regex', path_includes: ['a', '('], path_excludes: ['['] }),
    ).toEqual(['path_includes.1', 'path_excludes.0']);
    expect(faults('waf', { path_includes: Array.from({ length: 65 }, (_, i) => `/${i}`) })).toEqual([
      'path_includes',
    ]);
  });

  it('are limited in the total cost of their regular expressions', () => {
    const path_includes = Array.from({ length: 64 }, (_, i) => `${i}[a-z]{500}`);
    expect(faults('waf', { path_match_type: 'regex', path_includes }).length).toBeGreaterThan(0);
  });

  it('tell edges if a regular expression needs a linear-time engine', () => {
    const told = (path: string) => {
      const body = judge('waf', { path_match_type: 'regex', path_includes: [path] }).data;
      return edgeRuleOf('waf', 1, body as NonNullable<typeof body>, undefined);
    };
    expect(told('^/a+$')).not.toHaveProperty('needs_linear_engine');
    expect(told('^(a+)+$')).toMatchObject({ needs_linear_engine: true });
  });
});

describe('texts', () => {
  it.each(['\u0000', '\n', '\r', '\t', '\u007f', '\u0085'])('%j is allowed only in a page', (char) => {
    expect(faults('waf', { path_includes: [`/a${char}b`] })).toEqual(['path_includes.0']);
    expect(faults('redirect', { target: `/a${char}b` })).toEqual(['target']);
    const inPage = ['\n', '\r', '\t'].includes(char) ? [] : ['html'];
    expect(faults('error_page', { html: `a${char}b` })).toEqual(inPage);
  });

  it('of a page have at most 256 KiB', () => {
    expect(faults('error_page', { html: 'a'.repeat(262_144) })).toEqual([]);
    expect(faults('error_page', { html: 'a'.repeat(262_145) })).toEqual(['html']);
    expect(faults('error_page', { html: 'é'.repeat(131_073) })).toEqual(['html']);
  });

  it.each([
    ...wordsOf('https://example.com/a?b=c#d http://192.0.2.1:8080 /a/b?c / https://[2001:db8::1]/'),
  ])('a redirect may lead to %s', (target) => {
    expect(faults('redirect', { target })).toEqual([]);
  });

  it.each([
    ...wordsOf(String.raw`javascript:alert(1) //evil.example /\evil.example data:text/html,x ftp://example.com
      https:example.com https://user:secret@example.com/ example.com /ä /%zz https://`),
    '/a b',
    ' /a',
  ])('a redirect never leads to %s', (target) => {
    expect(faults('redirect', { target })).toEqual(['target']);
  });
});

describe('fields that depend on each other', () => {
  it.each<[RuleType, object, string[]]>([
    ['rate_limit', { key: 'header' }, ['header']],
    ['rate_limit', { key: 'header', header: 'x-api-key' }, []],
    ['rate_limit', { header: 'X Y' }, ['header']],
    ['bot_route', { bots: 'list' }, ['list']],
    ['bot_route', { action: 'route' }, ['destination']],
    ['bot_route', { action: 'route', destination: 'bots.example.net' }, []],
    ['cache', { key_query: 'list' }, ['key_query_list']],
    ['cache', { browser_ttl_seconds: null }, []],
    ['rewrite', { path_target: '/$2', path_match_type: 'regex', path_includes: ['^/(a)'] }, ['path_target']],
    ['rewrite', { path_target: '$1', path_match_type: 'regex', path_includes: ['^(/a)'] }, []],
    ['rewrite', { path_target: '$1' }, ['path_target']],
    ['rewrite', { path_target: '/a?b' }, ['path_target']],
    ['rewrite', { query_target: '?a=b' }, ['query_target']],
    ['origin_pool', { origins: [{ host: 'a.example', backup: true }] }, ['origins.0.backup']],
    ['origin_pool', { origins: [{ host: 'a.example' }, { host: 'a.example' }] }, ['origins.1.host']],
    ['origin_pool', { origins: [] }, ['origins']],
    ['origin_route', { destination: 'http://a.example' }, ['destination']],
    ['origin_route', { destination: 'a.example:80' }, ['destination']],
    ['origin_route', { destination: '10.1' }, ['destination']],
    ['origin_route', { destination: 'a.0x7f' }, ['destination']],
    ['origin_route', { destination: '2001:db8::1' }, []],
    ['origin_route', { destination: 'localhost' }, ['destination']],
    ['fingerprint', { fingerprints: ['t13d1516h2_8daaf6152771_02713d6af862'] }, []],
    ['fingerprint', { fingerprints: ['A'.repeat(32)] }, ['fingerprints.0']],
    ['drop', { countries: ['NL', 'XX'] }, ['countries.1']],
    ['drop', { countries: ['NL', 'NL'] }, ['countries.1']],
    ['waf', { rule_excludes: ['942100', '9a'] }, ['rule_excludes.1']],
    ['waf', { rule_excludes: [942100] }, ['rule_excludes.0']],
    ['drop', { countries: ['NL', 'nl'] }, ['countries.1']],
    ['drop', { countries: ['NL', 'EU'] }, ['countries.1']],
    ['rewrite', { query_mode: 'replace', query_target: 'a=b&c=d' }, []],
    ['error_page', { status_codes: [399] }, ['status_codes.0']],
  ])('%s %j', (type, body, fields) => {
    expect(faults(type, body)).toEqual(fields);
  });
});
