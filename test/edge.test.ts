// The edge configuration, and the hosts, origins and regular expressions that it accepts.

import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { networksOf } from '../src/dns/record/network.ts';
import { type EdgeDomain, edgeConfigOf, type ProxiedRecord } from '../src/edge/edge-config-of.ts';
import { judgeEdgeAddress } from '../src/edge/judge-edge-address.ts';
import { isExample, judgeOrigin } from '../src/edge/judge-origin.ts';
import { isSafeForBacktracking, judgeRegex } from '../src/edge/judge-regex.ts';
import { measureRegex } from '../src/edge/measure-regex.ts';
import { rowsOf, wordsOf } from './support/tests/rows-of.ts';
import { scale } from './support/tests/scale.ts';

const DOMAIN: EdgeDomain = {
  id: 7,
  name: 'example.com.',
  status: 'active',
  suspended: false,
  settings: {
    cache_l2_max_gb: 1,
    cache_l2_ttl_days: 2,
    cache_cap_mb: 3,
    sec_no_sniff: true,
    sec_referrer_policy: false,
    sec_strip_headers: true,
    markdown_for_agents: true,
  },
  developerModeUntil: null,
  plan: { wsEnabled: true },
};
const RECORD: ProxiedRecord = {
  id: 1,
  name: 'www.example.com.',
  destination: '192.0.2.9',
  scheme: 'Default',
  port: 443,
  host_header: null,
  timeout: 15,
  captcha: false,
  monitor: false,
};
const configOf = (domain: Partial<EdgeDomain> = {}, records: readonly Partial<ProxiedRecord>[] = []) =>
  edgeConfigOf({
    domain: { ...DOMAIN, ...domain },
    records: records.map((record) => ({ ...RECORD, ...record })),
    rules: [],
    http01: [],
    certificates: [],
  });

describe('the edge configuration of a domain', () => {
  it('has its name without the trailing dot, and its settings; unset values are absent', () => {
    expect(configOf()).toEqual({
      domain_id: 7,
      domain: 'example.com',
      status: 'active',
      suspended: false,
      settings: { ...DOMAIN.settings, websockets: true },
      hosts: [],
      rules: [],
      http01: [],
      certificates: [],
    });
    const until = new Date('2030-01-02T03:04:05Z');
    expect(configOf({ developerModeUntil: until }).settings.developer_mode_until).toBe(
      '2030-01-02T03:04:05.000Z',
    );
  });

  it('has a host per proxied name, with an origin per record', () => {
    const { hosts } = configOf({}, [
      { id: 5 },
      { id: 3, destination: '2001:db8::1', scheme: 'Https', host_header: 'in.example.net' },
      {
        id: 4,
        name: '*.example.com.',
        destination: 'o.example.net.',
        captcha: true,
        port: 80,
        monitor: true,
      },
    ]);
    const rest = {
      destination: 'o.example.net',
      scheme: 'default',
      port: 80,
      timeout_seconds: 15,
      monitor: true,
    };
    expect(hosts).toMatchObject([
      { host: '*.example.com', captcha: true },
      { host: 'www.example.com', captcha: false, origins: [{ record_id: 3 }, { record_id: 5 }] },
    ]);
    expect(hosts[0]?.origins).toEqual([{ record_id: 4, ...rest }]);
    expect(hosts[1]?.origins[0]).toMatchObject({ scheme: 'https', host_header: 'in.example.net' });
  });

  it('challenges visitors of a host if one of its records requires it', () => {
    expect(configOf({}, [{ id: 1 }, { id: 2, captcha: true }]).hosts[0]?.captcha).toBe(true);
  });

  it('has no host that requests cannot have', () => {
    const names = wordsOf(
      String.raw`a\032b.example.com. caf\195\169.example.com. x/y.example.com. _ok.example.com.`,
    );
    const { hosts } = configOf(
      {},
      names.map((name) => ({ name })),
    );
    expect(hosts.map(({ host }) => host)).toEqual(['_ok.example.com']);
  });

  it('has WebSocket only if the plan includes it, and Markdown only with an active plan', () => {
    const settings = (plan: EdgeDomain['plan']) => configOf({ plan }).settings;
    expect(settings({ wsEnabled: false })).toMatchObject({ websockets: false, markdown_for_agents: true });
    expect(settings(null)).toMatchObject({ websockets: false, markdown_for_agents: false });
  });

  it.each(['active', 'moved', 'pending', 'unverified'])('has the status %s', (status) => {
    expect(configOf({ status }).status).toBe(status === 'unverified' ? 'pending' : status);
  });
});

it.each(
  rowsOf(`
public | 203.0.113.10 8.8.8.8 2001:db8::1 2a00:1450::1
loopback | 127.0.0.1 127.255.255.254 ::1
private | 10.0.0.1 172.31.0.1 192.168.1.1 100.64.0.1 fd00::1
nowhere | 0.0.0.0 0.1.2.3 :: 169.254.169.254 fe80::1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 ff02::1
nowhere | ::127.0.0.1 64:ff9b::7f00:1 2002:7f00:1::`),
)("classifies an edge's address as %s: %s", (reach, addresses = '') => {
  for (const address of wordsOf(addresses))
    expect([address, judgeEdgeAddress(address)]).toEqual([address, reach]);
});

const NOTHING = { allowed: [], edges: [] };

describe('an origin', () => {
  it.each(
    wordsOf(`8.8.8.8 192.0.2.7 2600::1 2001:db8::7 ::ffff:8.8.8.8 64:ff9b::8.8.8.8 2002:808:808::1
      origin.example.net 172.32.0.1 100.128.0.1`),
  )('may be %s', (host) => {
    expect(judgeOrigin(host, NOTHING)).toBeUndefined();
  });

  it.each(
    wordsOf(`10.1.2.3 127.0.0.1 127.255.0.1 169.254.169.254 172.31.255.255 192.168.0.1 100.127.0.1 198.19.0.1
      239.1.1.1 240.0.0.1 255.255.255.255 0.0.0.0 :: ::1 ::127.0.0.1 fe80::1 fec0::1 fc00::1 fdff::1 ff02::1
      ::ffff:127.0.0.1 ::ffff:7f00:1 64:ff9b::127.0.0.1 64:ff9b:1::1 2002:7f00:1:: 2002:a9fe:a9fe::1 2001::1 4000::1
      localhost a.localhost`),
  )('is never %s', (host) => {
    expect(judgeOrigin(host, NOTHING)).toBeDefined();
  });

  it('may be in a network that the operator allows, also in the form of another protocol', () => {
    const rules = { allowed: networksOf('10.0.0.0/8', 'fd00::/8'), edges: [] };
    for (const host of ['10.0.0.1', 'fd00::1', '::ffff:10.0.0.1'])
      expect(judgeOrigin(host, rules)).toBeUndefined();
    for (const host of ['127.0.0.1', '::ffff:127.0.0.1', 'fe80::1'])
      expect(judgeOrigin(host, rules)).toBeDefined();
  });

  it('is never an edge, even if it is allowed', () => {
    const rules = { allowed: networksOf('0.0.0.0/0', '::/0'), edges: ['8.8.8.8', '2600::9'] };
    for (const host of ['8.8.8.8', '2600::9', '2600:0::9', '::ffff:8.8.8.8', '64:ff9b::808:808'])
      expect(judgeOrigin(host, rules)).toContain('edge');
    expect(judgeOrigin('8.8.8.9', rules)).toBeUndefined();
  });
});

it('examples are the documentation networks', () => {
  expect(wordsOf('192.0.2.1 8.8.8.8 2001:db8::1 name.example').filter(isExample)).toEqual([
    '192.0.2.1',
    '2001:db8::1',
  ]);
});

describe('a regular expression', () => {
  it('is RE2 syntax, and its groups are counted', () => {
    expect(judgeRegex('^/a/(\\d+)/(?:x|y)(?P<rest>.*)$')).toMatchObject({ kind: 'regex', groups: 2 });
  });

  it.each([
    ['', 'must not be empty'],
    ['ab[c', 'missing closing ] at character 3: [c'],
    ['a(?=b)', 'invalid or unsupported Perl syntax at character 2: (?='],
    ['(a)\\1', 'invalid escape sequence at character 4: \\1'],
    ['x**', 'at character 2: **'],
    ['a{2,1}', 'at character 2: {2,1}'],
    ['a'.repeat(1025), 'at most 1024 characters'],
  ])('%# is rejected with the position', (text, message) => {
    const judged = judgeRegex(text);
    expect(judged.kind === 'problem' && judged.message).toContain(message);
  });

  it.each([
    '((a{1000}){1000})',
    '(?:a{1000}){1000}',
    `(?:${'a'.repeat(900)}){1000}`,
    `(?:${'\\pL'.repeat(300)}){1000}`,
    '((((a{30}){30}){30}){30})',
    '(?:\\pL){999}'.repeat(80),
  ])('%# is rejected because of the size of its program', (text) => {
    expect(judgeRegex(text).kind).toBe('problem');
  });

  it('that is deeply nested is evaluated without a stack overflow', () => {
    expect(judgeRegex(`${'('.repeat(511)}a${')'.repeat(511)}`).kind).toBe('regex');
    expect(judgeRegex('('.repeat(1024)).kind).toBe('problem');
  });
});

it('is safe for backtracking engines only without nested repetition', () => {
  expect(isSafeForBacktracking('^/wp-(login|admin)\\.php$')).toBe(true);
  expect(isSafeForBacktracking('(a+)+$')).toBe(false);
  expect(isSafeForBacktracking('\\p{Greek}+')).toBe(false);
});

describe('the size of a regular expression', () => {
  const atom = fc.oneof(
    fc.constantFrom(
      ...wordsOf(
        String.raw`a . \d \pL \p{Greek} [a-z] [^]x] [[:alpha:]_] \. ^ $ \b (?i) \Qa*b\E \x41 (?s) \Q\E {,`,
      ),
    ),
    fc.string({ minLength: 1, maxLength: 3 }),
  );
  const quantifier = fc.constantFrom('', '', '', ...wordsOf('* + ? {3} {2,} {1,7} *? {0,1} {12}'));
  const { regex } = fc.letrec<{ regex: string; part: string; group: string }>((tie) => ({
    regex: fc.array(tie('part'), { minLength: 1, maxLength: 5 }).map((parts) => parts.join('')),
    part: fc.tuple(fc.oneof({ maxDepth: 5 }, atom, tie('group')), quantifier).map((both) => both.join('')),
    group: fc
      .tuple(
        fc.constantFrom('(', '(?:', '(?P<n>', '(?i:'),
        fc.array(tie('regex'), { minLength: 1, maxLength: 3 }),
      )
      .map(([head, choices]) => `${head}${choices.join('|')})`),
  }));

  it('is never less than the program that RE2 compiles', () => {
    let compiled = 0;
    fc.assert(
      fc.property(regex, (text) => {
        const { size } = measureRegex(text);
        if (size > 20_000) return;
        let program: number;
        try {
          program = RE2JS.compile(text).programSize();
        } catch {
          return;
        }
        compiled++;
        expect(size + 4, text).toBeGreaterThanOrEqual(program);
      }),
      { numRuns: scale(3000, 150) },
    );
    expect(compiled).toBeGreaterThan(scale(500, 5));
  });

  it.each(
    wordsOf('(a+)+ (a*)* (a?){30} (a|a)* (?:a|b+)+ ([a-z]+)*$ ((ab)*c)* .*.*.*.*x (.*a){12}'),
  )('%s has nested or too many repetitions', (text) => {
    expect(measureRegex(text).isNested).toBe(true);
  });

  it.each(
    wordsOf(
      String.raw`^/a /(de|en)/ (abc)+ ^/[a-z0-9-]+/[0-9]{2,4}\.html$ (ab){3} (?i)\.(php|asp)$ \(a+\)+ [(+]+`,
    ),
  )('%s is plain', (text) => {
    expect(measureRegex(text)).toMatchObject({ isNested: false, isPortable: true });
  });

  it.each(
    wordsOf(String.raw`\pL \x{41} é \v (?U)a+ a\z a{,5}`),
  )('%s means something else in other engines', (text) => {
    expect(measureRegex(text).isPortable).toBe(false);
  });
});
