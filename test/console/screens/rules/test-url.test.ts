import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { answeringRecords } from '../../../../console/src/screens/rules/answering-record.ts';
import { regexFinder } from '../../../../console/src/screens/rules/find-regex.ts';
import type { Rule } from '../../../../console/src/screens/rules/match-rule.ts';
import { decodedPath, readUrl, type TestedUrl } from '../../../../console/src/screens/rules/read-url.ts';
import { countsDryRun, TYPES } from '../../../../console/src/screens/rules/rule-fields.ts';
import { scopeOf, summaryOf } from '../../../../console/src/screens/rules/say-rule.ts';
import { testUrl } from '../../../../console/src/screens/rules/test-url.ts';
import type { EdgeRule, RuleType } from '../../../../src/edge/edge-rule.ts';
import { kindOf, RULE_KINDS, RULE_TYPES } from '../../../../src/edge/rules/every-type.ts';
import { BLOCKING, REDIRECTING, REWRITING } from '../../../support/edge/rule-cases.ts';
import { SMALLEST } from '../../../support/rules/smallest-bodies.ts';

const DOMAIN = 'shop.example';
const UNKNOWN = { recordIds: [1], country: '', agent: '', fingerprint: '' };

/** A stored rule with the defaults of the API. */
function rule(type: RuleType, id: number, body: object = {}): Rule {
  const whole = kindOf(type).schema.parse({ ...SMALLEST[type], ...body });
  return { id, type, ...whole } as unknown as Rule;
}

/** A rule of the edge's tests as the API returns it. */
function storedRule({ id, path, host: _, hosts: __, needs_linear_engine: ___, type, ...fields }: EdgeRule) {
  const paths = { path_match_type: path.type, path_includes: path.includes, path_excludes: path.excludes };
  return rule(type, id, { ...fields, ...paths });
}

function read(text: string): TestedUrl {
  const url = readUrl(text, DOMAIN);
  if (url.kind === 'problem') throw new Error(url.problem);
  return url;
}

function run(rules: readonly Rule[], text: string, visit: Partial<typeof UNKNOWN> = {}, changes = {}) {
  const tested = { rules, url: read(text), visit: { ...UNKNOWN, ...visit } };
  return testUrl({ ...tested, isSuspended: false, isDeveloping: false, ...changes }, regexFinder(RE2JS));
}

/** `5 acts`, `6 miss path`. */
const outcomes = (result: ReturnType<typeof run>) =>
  result.steps.map(({ rule: { id }, outcome }) =>
    [id, outcome.kind, ...('why' in outcome ? [outcome.why] : [])].join(' '),
  );

describe('the types', () => {
  it('are listed in the order in which edges apply them', () => {
    expect(TYPES).toEqual(RULE_TYPES);
  });

  it('support dry run where edges do', () => {
    for (const { type, countsDryRun: counts } of RULE_KINDS)
      expect([type, countsDryRun(type)]).toEqual([type, counts]);
  });
});

describe('a tested URL', () => {
  it('may be complete, without a scheme, or a path', () => {
    for (const text of ['https://shop.example/old?a=1#x', 'SHOP.example./old?a=1', ' /old?a=1 '])
      expect(read(text)).toMatchObject({ host: DOMAIN, rawPath: '/old', path: '/old', query: 'a=1' });
    expect(read('https://bücher.shop.example/').host).toBe('xn--bcher-kva.shop.example');
  });

  it('is rejected if its scheme is not http or https, or if it is too long', () => {
    for (const text of ['', 'ftp://shop.example/', 'http://', 'a b', `${'a.'.repeat(200)}shop.example`])
      expect(readUrl(text, DOMAIN)).toEqual({ kind: 'problem', problem: 'url' });
    expect(readUrl(`/${'a'.repeat(2048)}`, DOMAIN)).toEqual({ kind: 'problem', problem: 'long' });
  });

  it.each([
    ['/a%20b/%C3%A9', '/a b/é'],
    ['/x/../admin/./b//c/', '/admin/b/c/'],
    ['/a%2Fb%2F..%2Fc', '/a/c'],
    ['/a/..', '/'],
    ['/%2e%2e/a', undefined],
    ['/a%0Ab', undefined],
    ['/a%zz', undefined],
  ])('has the decoded path of %s', (rawPath, path) => {
    expect(decodedPath(rawPath)).toBe(path);
  });
});

describe('a test', () => {
  it('blocks the paths that edges block', () => {
    const rules = BLOCKING.rules.map(storedRule);
    for (const path of BLOCKING.blocked) {
      const text = path.startsWith('//') ? `https://${DOMAIN}${path}` : path;
      expect([path, run(rules, text).end.kind]).toEqual([path, 'blocked']);
    }
    for (const path of BLOCKING.passed) expect([path, run(rules, path).end.kind]).toEqual([path, 'record']);
  });

  it('redirects to the addresses to which edges redirect', () => {
    const rules = REDIRECTING.rules.map(storedRule);
    for (const [path, response] of REDIRECTING.responses) {
      const [status, location] = response.split(' ');
      expect([path, run(rules, `https://${DOMAIN}${path}`).end]).toEqual([
        path,
        { kind: 'redirected', status: Number(status), location },
      ]);
    }
  });

  it('requests the paths that edges request', () => {
    const rules = REWRITING.rules.map(storedRule);
    for (const [path, requested] of REWRITING.requests)
      expect(run(rules, path).end).toEqual({ kind: 'record', path: requested });
  });

  it('applies types in their order, and stops at the rule that ends the request', () => {
    const rules = [rule('cache', 1), rule('redirect', 2), rule('redirect', 3), rule('rate_limit', 4)];
    const result = run(rules, '/');
    expect(outcomes(result)).toEqual(['4 acts', '2 acts']);
    expect(result.end.kind).toBe('redirected');
    expect(result.unless).toEqual([4]);
  });

  it('reports why a rule does not apply', () => {
    const result = run(
      [
        rule('cache', 1, { enabled: false }),
        rule('cache', 2, { record_ids: [7] }),
        rule('cache', 3, { host_match_type: 'exact', host_pattern: 'www.shop.example' }),
        rule('cache', 4, { path_includes: ['/a'] }),
        rule('cache', 5, { path_excludes: ['/b*'] }),
        rule('cache', 6, { record_ids: [7, 1] }),
        rule('cache', 8),
      ],
      '/b/c',
    );
    expect(outcomes(result)).toEqual([
      ...['1 miss off', '2 miss record', '3 miss host', '4 miss path', '5 miss excluded', '6 acts'],
      '8 miss earlier',
    ]);
  });

  it('compares hosts exactly, with a wildcard, or with a regular expression', () => {
    const rules = [
      rule('rate_limit', 1, { host_match_type: 'exact', host_pattern: 'a.shop.example' }),
      rule('rate_limit', 2, { host_match_type: 'wildcard', host_pattern: '*.shop.example' }),
      rule('rate_limit', 3, { host_match_type: 'regex', host_pattern: '^(a|b)\\.' }),
    ];
    expect(outcomes(run(rules, 'a.shop.example/'))).toEqual(['1 acts', '2 acts', '3 acts']);
    expect(outcomes(run(rules, 'c.d.shop.example/'))).toEqual(['1 miss host', '2 acts', '3 miss host']);
    expect(outcomes(run(rules, '/'))).toEqual(['1 miss host', '2 miss host', '3 miss host']);
  });

  it('reports which rules only an edge can evaluate', () => {
    const rules = [
      rule('drop', 1, { countries: ['DE'] }),
      rule('drop', 2, { countries: ['DE'], country_match_type: 'exclude', action_mode: 'dry_run' }),
      rule('bot_route', 3, { bots: 'verified' }),
      rule('bot_route', 4, { bots: 'list', list: ['GPTBot'], action: 'route', destination: 'b.example.net' }),
      rule('waf', 5),
    ];
    const open = run(rules, '/');
    const unsure = ['1 unsure country', '2 unsure country', '3 unsure bots', '4 unsure agent', '5 acts'];
    expect(outcomes(open)).toEqual(unsure);
    expect(open.unless).toEqual([1, 3, 4, 5]);
    const known = run(rules, '/', { country: 'FR', agent: 'x gptbot/1' });
    expect(outcomes(known)).toEqual(['1 miss country', '2 log', '3 unsure bots', '4 acts', '5 acts']);
    expect(known.end).toEqual({ kind: 'rule', id: 4, path: '/' });
    expect(run(rules, '/', { country: 'DE' }).end).toEqual({ kind: 'blocked', id: 1 });
  });

  it('prefers a pool to a route, and skips captchas for allowed bots', () => {
    const rules = [
      rule('bot_route', 1, { bots: 'list', list: ['a'], action: 'allow' }),
      rule('captcha', 2),
      rule('origin_route', 3),
      rule('origin_pool', 4),
    ];
    const result = run(rules, '/', { agent: 'a' });
    expect(outcomes(result)).toEqual(['1 acts', '2 miss exempt', '3 acts', '4 acts']);
    expect(result).toMatchObject({ end: { kind: 'rule', id: 4 }, isExempt: true });
  });

  it('continues after a dry run, even with the next rule of the type', () => {
    const rules = [rule('redirect', 1, { action_mode: 'dry_run' }), rule('redirect', 2, { target: '/b' })];
    expect(outcomes(run(rules, '/a'))).toEqual(['1 log', '2 acts']);
  });

  it('shows the first error page for each status', () => {
    const rules = [
      rule('error_page', 1, { status_codes: [404, 502], action_mode: 'dry_run' }),
      rule('error_page', 2, { status_codes: [502, 503] }),
      rule('error_page', 3, { status_codes: [404] }),
    ];
    const result = run(rules, '/');
    expect(outcomes(result)).toEqual(['1 acts', '2 acts', '3 miss earlier']);
    expect(result.steps[1]?.outcome).toMatchObject({ detail: { kind: 'pages', codes: [503] } });
  });

  it('applies no rule to a suspended domain, or to a path that edges reject', () => {
    const rules = [rule('drop', 1)];
    expect(run(rules, '/', {}, { isSuspended: true })).toMatchObject({
      steps: [],
      end: { kind: 'suspended' },
    });
    expect(run(rules, '/a%0A')).toMatchObject({ steps: [], end: { kind: 'badPath' } });
  });

  it('matches any regular expression in linear time', () => {
    const slow = rule('cache', 1, { path_match_type: 'regex', path_includes: ['(a*)*(a*)*b$'] });
    expect(outcomes(run([slow], `/${'a'.repeat(2000)}`))).toEqual(['1 miss path']);
  });
});

describe('the records that answer', () => {
  const record = (id: number, proxied: boolean) => ({ id, proxied, captcha: false });
  const zone: Readonly<Record<string, ReturnType<typeof record>[]>> = {
    '@': [record(1, true)],
    www: [record(2, false)],
    '*': [record(3, true)],
    inner: [record(4, true)],
    '*.deep': [record(5, true)],
    'x.empty': [record(6, true)],
  };
  const load = async (name: string) => zone[name] ?? [];
  const hasBelow = async (name: string) => Object.keys(zone).some((each) => each.endsWith(`.${name}`));
  const find = async (host: string) => (await answeringRecords(host, DOMAIN, { load, hasBelow }))?.name;

  it('are those of the host, otherwise of the closest wildcard', async () => {
    expect(await find('shop.example')).toBe('@');
    expect(await find('www.shop.example')).toBe('www');
    expect(await find('other.shop.example')).toBe('*');
    expect(await find('a.deep.shop.example')).toBe('*.deep');
    expect(await find('a.b.shop.example')).toBe('*');
  });

  it('do not include wildcards above an existing name', async () => {
    expect(await find('a.inner.shop.example')).toBeUndefined();
    // exists without records, because of a name below it
    expect(await find('empty.shop.example')).toBeUndefined();
    expect(await find('a.empty.shop.example')).toBeUndefined();
  });
});

describe('the description of a rule', () => {
  it.each(RULE_TYPES)('is a sentence for the type %s', (type) => {
    expect(summaryOf(rule(type, 1))).toMatch(/^[A-Z][^{}]+[^.]$/);
  });

  it('names the requests to which the rule applies', () => {
    const names = new Map([[1, 'www.shop.example']]);
    expect(scopeOf(rule('cache', 1), names)).toEqual(['Whole domain', 'All paths']);
    const narrow = { record_ids: [1, 9], path_includes: ['/a', '/b*'], path_excludes: ['/b/c'] };
    expect(scopeOf(rule('cache', 1, narrow), names)).toEqual([
      'www.shop.example, record 9',
      'Paths /a, /b*',
      'Except /b/c',
    ]);
    const host = { host_match_type: 'wildcard', host_pattern: '*.x.example' };
    expect(scopeOf(rule('cache', 1, host), names)[0]).toBe('Hosts like *.x.example');
  });
});
