import { describe, expect, it } from 'vitest';
import type { Expected } from '../../../src/checks/delegation/check-state.ts';
import type { Evidence, ServerEvidence } from '../../../src/checks/delegation/evidence.ts';
import { judgeDelegation } from '../../../src/checks/delegation/judge-delegation.ts';
import { evidenceJson, printEvidence } from '../../../src/cli/check/print-evidence.ts';
import { type Name, parseName } from '../../../src/dns/name.ts';

const names = (...texts: string[]): Name[] => texts.map((text) => parseName(text));
const A = names('ns1.fleet.example.', 'ns2.fleet.example.');
const B = names('ns1.fleet.test.', 'ns2.fleet.test.');
const EXPECTED: Expected = { sets: [A, B], ours: new Set([...A, ...B]) };
const AT = Date.UTC(2026, 10, 21, 12);

function server(server: string, address: string, more: Partial<ServerEvidence> = {}): ServerEvidence {
  return {
    server: parseName(server),
    address,
    transport: 'udp',
    askedAt: AT,
    rttMs: 12.4,
    outcome: 'referral',
    rcode: 0,
    aa: false,
    ns: [],
    ttl: 86_400,
    ds: [],
    error: undefined,
    ...more,
  };
}

function evidence(servers: readonly ServerEvidence[], more: Partial<Evidence> = {}): Evidence {
  return {
    domain: parseName('shop.example.'),
    parent: parseName('example.'),
    walk: [
      {
        zone: parseName('.'),
        servers: names('a.root.', 'b.root.', 'c.root.', 'd.root.', 'e.root.'),
        cached: true,
      },
      { zone: parseName('example.'), servers: names('a.nic.example.'), cached: false },
    ],
    servers,
    parentAddresses: 2,
    failure: undefined,
    queries: 3,
    startedAt: AT,
    finishedAt: AT + 123,
    ...more,
  };
}

function observe(seen: Evidence, expected = EXPECTED) {
  return { evidence: seen, judgement: judgeDelegation(seen, expected), expected };
}

const both = (ns: Name[], more: Partial<ServerEvidence> = {}) =>
  evidence([
    server('a.nic.example.', '192.0.2.1', { ns, ...more }),
    server('b.nic.example.', '2001:db8::1', { ns, ...more, transport: 'tcp' }),
  ]);
const text = (seen: Evidence, colours = false) => printEvidence(observe(seen), { colours });

describe('an observation as text', () => {
  it('prints the path, the servers, the comparison with each set, and the verdict with advice', () => {
    const [first = '', ...rest] = text(
      both(names('ns1.fleet.example.', 'ns9.other.test.', 'ns1.fleet.test.')),
    ).split('\n\n');
    expect(first).toBe('shop.example');
    expect(rest[0]?.split('\n')).toEqual([
      '.  a.root b.root c.root d.root and 1 more  (root hints)',
      '└─ example  a.nic.example',
      '   └─ shop.example  is queried at example',
      'DNSSEC of example: not validated (indeterminate)',
    ]);
    expect(rest[1]?.split('\n')).toEqual([
      'Servers of example (2 of 2 addresses, 3 packets, 0.1 s)',
      expect.stringMatching(/^ {2}SERVER +ADDRESS +BY +TIME +OUTCOME +SAID$/),
      expect.stringMatching(
        /^ {2}a\.nic\.example +192\.0\.2\.1 +udp +12 ms +referral +NS ns1\.fleet\.example ns9\.other\.test ns1\.fleet\.test$/,
      ),
      expect.stringMatching(/^ {2}b\.nic\.example +2001:db8::1 +tcp +12 ms +referral +NS /),
    ]);
    expect(rest[2]?.split('\n')).toEqual([
      'Our nameserver sets',
      '  set 1',
      '      ns1.fleet.example',
      '    + ns2.fleet.example  missing',
      '    - ns1.fleet.test  of another set',
      '    - ns9.other.test  foreign',
      '  set 2',
      '    - ns1.fleet.example  of another set',
      '      ns1.fleet.test',
      '    + ns2.fleet.test  missing',
      '    - ns9.other.test  foreign',
    ]);
    const [verdict, finding] = rest[3]?.split('\n') ?? [];
    expect(verdict).toBe('Verdict mixed: delegated to names of several sets (said by 2 addresses)');
    expect(finding).toMatch(/^ {2}NS_MIXED: .*ns2\.fleet\.example/);
    expect(rest).toHaveLength(4);
  });

  it('marks nothing if the parent lists exactly one set', () => {
    const shown = text(both(A));
    expect(shown).toContain(
      '  set 1\n      ns1.fleet.example\n      ns2.fleet.example\n  set 2, also accepted\n      ns1.fleet.test\n',
    );
    expect(
      shown.endsWith('\n\nVerdict match: delegated to exactly one accepted set (said by 2 addresses)'),
    ).toBe(true);
  });

  it('prints errors of servers, and does not compare the sets without a result', () => {
    const silent = { outcome: 'timeout', rttMs: undefined, rcode: undefined, error: 'no answer' } as const;
    const refused = { outcome: 'servfail', rcode: 2 } as const;
    const seen = evidence([
      server('a.nic.example.', '192.0.2.1', silent),
      server('b.nic.example.', '192.0.2.2', refused),
    ]);
    const shown = text(seen);
    expect(shown).toMatch(/192\.0\.2\.1 +udp +- +timeout +no answer$/m);
    expect(shown).toMatch(/192\.0\.2\.2 +udp +12 ms +servfail +SERVFAIL$/m);
    expect(shown).toContain(
      '\nOur nameserver sets (? = unknown whether the parent lists it)\n  set 1\n    ? ns1.fleet.example\n',
    );
    for (const told of [shown, JSON.stringify(evidenceJson(observe(seen)))]) {
      expect(told).toContain('; run the check again later, or from another network.');
      expect(told).not.toContain('automatically');
    }
    expect(shown).toMatch(/^Verdict unknown: no reliable result\n {2}PARENT_UNREACHABLE: /m);
  });

  it('reports that the sets are examples, and where the path ended', () => {
    const observed = observe(both(A));
    expect(printEvidence({ ...observed, setsAreExamples: true }, { colours: false })).toContain(
      '\nOur nameserver sets\n  NAMESERVER_SETS is not set: these are examples\n  set 1\n',
    );
    const failure = { zone: parseName('example.'), reason: 'lame', message: 'all lame' } as const;
    const shown = text(evidence([], { parent: undefined, failure }));
    expect(shown).toContain('   └─ the parent was not found: all lame');
    expect(shown).not.toContain('Servers of');
  });

  it('prints a DS record, and a parent that this fleet serves', () => {
    const ds = new Uint8Array([0x12, 0x34, 8, 2, ...Array(32).fill(0xab)]);
    const seen = evidence([
      server('example.', '', { transport: 'database', ns: A, ds: [ds], rttMs: undefined, aa: undefined }),
    ]);
    const shown = printEvidence(
      observe({ ...seen, walk: [{ zone: parseName('example.'), servers: [], cached: true }] }),
      { colours: false },
    );
    expect(shown).toContain('example  served by this fleet  (cached)');
    expect(shown).toMatch(
      /example +- +database +- +referral +NS ns1\.fleet\.example ns2\.fleet\.example; DS 4660 8 2 (AB)+$/im,
    );
    expect(shown).toContain('STALE_DS: ');
  });

  it('uses colours only on terminals', () => {
    const seen = both(names('ns1.fleet.example.', 'ns9.other.test.'));
    const coloured = text(seen, true);
    expect(coloured).toContain('\x1b[31m- ns9.other.test  foreign\x1b[0m');
    expect(coloured).toContain('\x1b[32m+ ns2.fleet.example  missing\x1b[0m');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test removes them
    expect(coloured.replaceAll(/\x1b\[\d+m/g, '')).toBe(text(seen));
    expect(text(seen)).not.toContain('\x1b');
  });
});

describe('the DNSSEC of the parent', () => {
  const line = (more: Partial<Evidence>) =>
    text({ ...both(A), ...more })
      .split('\n')
      .find((each) => each.startsWith('DNSSEC'));

  it.each([
    [
      'secure',
      'DNSSEC of example: validated from the root (secure); signatures never cover the NS records of a delegation',
    ],
    [
      'insecure',
      'DNSSEC of example: a zone on the path proves that the chain of signatures ends there (insecure)',
    ],
    ['indeterminate', 'DNSSEC of example: not validated (indeterminate)'],
  ] as const)('that is %s', (security, expected) => {
    expect(line({ security })).toBe(expected);
  });

  it('prints needs of a server, its proofs, and that an error of the root hides the result', () => {
    const seen = both(names('ns1.fleet.example.'), { needed: ['tcp', 'lower_case'] });
    expect(text(seen)).toContain('NS ns1.fleet.example; needed TCP and lower case');
    expect(JSON.parse(JSON.stringify(evidenceJson(observe(seen)))).evidence.servers[0].needed).toEqual([
      'tcp',
      'lower_case',
    ]);
    expect(line({ security: 'indeterminate', rootFault: true })).toMatch(/the root does not validate/);
    const proven = evidence([
      server('a.nic.example.', '192.0.2.1', { outcome: 'nxdomain', proof: 'secure' }),
    ]);
    expect(text(proven)).toContain('nxdomain  proven');
    expect(JSON.parse(JSON.stringify(evidenceJson(observe(proven)))).evidence.servers[0].proof).toBe(
      'secure',
    );
  });
});

it('an observation as JSON has all evidence, with names as text and DS in hex, and the verdict', () => {
  const ds = new Uint8Array([0x12, 0x34, 8, 2, 0xab]);
  const none = { rttMs: undefined, rcode: undefined, aa: undefined, ttl: undefined };
  const seen = evidence([
    server('a.nic.example.', '192.0.2.1', { ns: A, ds: [ds] }),
    server('b.nic.example.', '192.0.2.2', { ...none, outcome: 'timeout', error: 'no answer' }),
  ]);
  expect(JSON.parse(JSON.stringify(evidenceJson(observe(seen))))).toEqual({
    domain: 'shop.example',
    verdict: 'match',
    evidence: {
      parent: 'example',
      walk: [
        { zone: '.', servers: ['a.root', 'b.root', 'c.root', 'd.root', 'e.root'], cached: true },
        { zone: 'example', servers: ['a.nic.example'], cached: false },
      ],
      servers: [
        {
          server: 'a.nic.example',
          address: '192.0.2.1',
          transport: 'udp',
          needed: [],
          asked_at: '2026-11-21T12:00:00.000Z',
          rtt_ms: 12.4,
          outcome: 'referral',
          rcode: 0,
          aa: false,
          ns: ['ns1.fleet.example', 'ns2.fleet.example'],
          ttl: 86_400,
          ds: ['12340802ab'],
          shows_cut: null,
          proof: null,
          error: null,
        },
        expect.objectContaining({ outcome: 'timeout', rtt_ms: null, rcode: null, aa: null, ttl: null }),
      ],
      security: 'indeterminate',
      parent_addresses: 2,
      failure: null,
      queries: 3,
      started_at: '2026-11-21T12:00:00.000Z',
      finished_at: '2026-11-21T12:00:00.123Z',
    },
    judgement: {
      verdict: 'match',
      matched: ['ns1.fleet.example', 'ns2.fleet.example'],
      observed: ['ns1.fleet.example', 'ns2.fleet.example'],
      confirmations: 1,
      confirmed: false,
      by_answer: false,
      sole_witness: true,
      ours_shown: true,
      stale_ds: true,
      findings: [
        expect.objectContaining({ code: 'STALE_DS' }),
        expect.objectContaining({ code: 'UNCONFIRMED' }),
        { code: 'PARENT_FAILS', message: expect.any(String), names: ['b.nic.example'] },
      ],
    },
    accepted_sets: [
      ['ns1.fleet.example', 'ns2.fleet.example'],
      ['ns1.fleet.test', 'ns2.fleet.test'],
    ],
  });
});
