import { describe, expect, it } from 'vitest';
import { parseName, printName } from '../../src/dns/name.ts';
import { challengeOf } from '../../src/zone/domain/challenge-name.ts';
import { judgeDomainName, parseDomainName } from '../../src/zone/domain/domain-name.ts';
import {
  DNS_MODES,
  DOMAIN_STATUSES,
  nextState,
  type StatusEvent,
  startStatus,
} from '../../src/zone/domain/domain-status.ts';
import { isPublicSuffix } from '../../src/zone/domain/public-suffix.ts';
import { statusReason } from '../../src/zone/domain/status-reason.ts';
import { whyUnchecked } from '../../src/zone/domain/why-unchecked.ts';
import { wordsOf } from '../support/tests/rows-of.ts';

it('the name of the TXT record is below the domain’s name', () => {
  expect(printName(challengeOf(parseName('xn--bcher-kva.example.')))).toBe(
    '_svc-challenge.xn--bcher-kva.example.',
  );
});

describe('the text of a domain name', () => {
  it.each([
    ['example.com', 'example.com.', 'example.com'],
    ['EXAMPLE.Com.', 'example.com.', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example.', 'bücher.example'],
    ['XN--BCHER-KVA.example.', 'xn--bcher-kva.example.', 'bücher.example'],
    ['faß.de', 'xn--fa-hia.de.', 'faß.de'],
    ['пример。рф', 'xn--e1afmkfd.xn--p1ai.', 'пример.рф'],
    ['2.0.192.in-addr.arpa', '2.0.192.in-addr.arpa.', '2.0.192.in-addr.arpa'],
    ['0/25.2.0.192.in-addr.arpa', '0/25.2.0.192.in-addr.arpa.', '0/25.2.0.192.in-addr.arpa'],
    ['8.b.d.0.1.0.0.2.ip6.arpa', '8.b.d.0.1.0.0.2.ip6.arpa.', '8.b.d.0.1.0.0.2.ip6.arpa'],
    ['_domainkey.example.com', '_domainkey.example.com.', '_domainkey.example.com'],
    ['ab--cd.com', 'ab--cd.com.', 'ab--cd.com'],
  ])('%s is %s', (text, full, unicode) => {
    const read = parseDomainName(text);
    expect(read.kind === 'name' ? [printName(read.name), read.unicode] : read.message).toEqual([
      full,
      unicode,
    ]);
  });

  it.each([
    ...'|.|..|a..b|.example.com|example.com..|-a.com|a-.com|a_b.com|*.example.com|@|exa mple.com'.split('|'),
    ...'example.com/|http://example.com|user@example.com|a\\.b.com|xn--a.com|xn--.com|ab--ü.com'.split('|'),
    ...'ü-.com|\u0300a.com|a\u200db.com|1א.com|0/25.example.com'.split('|'),
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(126)}com`,
    'a'.repeat(5000),
  ])('"%s" is refused', (text) => {
    expect(parseDomainName(text).kind).toBe('problem');
  });

  it('may have 253 characters', () => {
    const name = `${'a.'.repeat(125)}com`;
    expect(name.length).toBe(253);
    expect(parseDomainName(name).kind).toBe('name');
    expect(parseDomainName(`a${name}`).kind).toBe('problem');
  });
});

describe('names that no account can have', () => {
  const judge = (text: string, allowReserved = false) =>
    judgeDomainName(parseName(text), { allowReserved, dnsMode: 'managed' })?.code;

  it.each([
    ['com.', 'single_label'],
    ['localhost.', 'single_label'],
    ['.', 'single_label'],
    ['co.uk.', 'public_suffix'],
    ['xn--55qx5d.cn.', 'public_suffix'],
    ['anything.ck.', 'public_suffix'],
    ['in-addr.arpa.', 'public_suffix'],
    ['a.localhost.', 'reserved'],
    ['printer.local.', 'reserved'],
    ['a.invalid.', 'reserved'],
    ['a.onion.', 'reserved'],
    ['home.arpa.', 'reserved'],
    ['a.home.arpa.', 'reserved'],
    ['example.com.', 'reserved'],
    ['www.example.org.', 'reserved'],
    ['shop.example.', 'reserved'],
    ['shop.test.', 'reserved'],
    ['192.0.2.1.', 'not_a_hostname'],
    ['_a.com.', 'not_a_hostname'],
  ])('%s: %s', (text, code) => {
    expect(judge(text)).toBe(code);
  });

  it.each(
    wordsOf(`
    zonefleet.com. shop.co.uk. www.ck. github.io. a.b.c.unknown-tld. first.unknown-tld.
    2.0.192.in-addr.arpa. 0/25.2.0.192.in-addr.arpa. 8.b.d.0.1.0.0.2.ip6.arpa. examples.com.
    mytest. _domainkey.zonefleet.com.`),
  )('%s is accepted', (text) => {
    expect(judge(text)).toBe(text === 'mytest.' ? 'single_label' : undefined);
  });

  it('reserved names are accepted if they are allowed, but localhost never', () => {
    const allowed = ['shop.test.', 'example.com.', 'a.example.', 'a.localhost.'];
    expect(allowed.map((text) => judge(text, true))).toEqual([undefined, undefined, undefined, 'reserved']);
  });

  it('in external mode, a name leaves space for the name of the TXT record', () => {
    const start = `${'a'.repeat(49)}.`.repeat(4);
    const code = (characters: number, dnsMode: 'managed' | 'external') => {
      const name = parseName(`${start}${'b'.repeat(characters - 204)}.com.`);
      return judgeDomainName(name, { allowReserved: false, dnsMode })?.code;
    };
    const codes = [code(238, 'external'), code(239, 'external'), code(253, 'managed')];
    expect(codes).toEqual([undefined, 'too_long', undefined]);
  });
});

/** One line per status, with the result of each event. `=` is no change, and words are codes of refusals. */
const TABLE = `
                     enable           disable      ban          unban                use_managed      use_external
managed pending      wrong_state      disabled     banned       wrong_state          =                unverified/external
managed active       wrong_state      disabled     banned       wrong_state          =                unverified/external
managed moved        wrong_state      disabled     banned       wrong_state          =                unverified/external
managed disabled     pending          wrong_state  banned       wrong_state          domain_disabled  domain_disabled
managed banned       domain_banned    disabled     wrong_state  pending              domain_banned    domain_banned
external unverified  wrong_state      disabled     banned       wrong_state          pending/managed  =
external active      wrong_state      disabled     banned       wrong_state          pending/managed  =
external disabled    unverified       wrong_state  banned       wrong_state          domain_disabled  domain_disabled
external banned      domain_banned    disabled     wrong_state  unverified           domain_banned    domain_banned
`;

describe('the transitions that people make', () => {
  const [head, ...lines] = TABLE.trim().split('\n');
  const events = head?.trim().split(/\s+/) as StatusEvent[];
  const cases = lines.flatMap((line) => {
    const [dnsMode, status, ...cells] = line.split(/\s+/) as [string, string, ...string[]];
    return events.map((event, i) => [dnsMode, status, event, cells[i] as string] as const);
  });

  it('are all in the table', () => {
    expect(events).toEqual(['enable', 'disable', 'ban', 'unban', 'use_managed', 'use_external']);
    expect(new Set(cases.map(([, status]) => status))).toEqual(new Set(DOMAIN_STATUSES));
  });

  it.each(cases)('%s %s, %s: %s', (dnsMode, status, event, expected) => {
    const state = { dnsMode, status } as Parameters<typeof nextState>[0];
    const move = nextState(state, event);
    if (move.kind === 'move') {
      const to = move.to.dnsMode === dnsMode ? move.to.status : `${move.to.status}/${move.to.dnsMode}`;
      expect(to).toBe(expected);
    } else {
      expect(move.kind === 'refused' ? move.code : '=').toBe(expected);
      if (move.kind === 'refused') expect(move.message).toMatch(/^the domain is/);
    }
  });
});

it('a new domain waits for its delegation or its TXT record', () => {
  expect(DNS_MODES.map(startStatus)).toEqual(['pending', 'unverified']);
});

it.each([
  ['com.', true],
  ['co.uk.', true],
  ['COM.', true],
  ['example.com.', false],
  ['www.co.uk.', false],
  ['.', false],
  ['unknown-tld.', true],
  ['example.unknown-tld.', false],
  // customers of these choose their own nameservers
  ['github.io.', false],
])('%s is a public suffix: %s', (name, expected) => {
  expect(isPublicSuffix(parseName(name.toLowerCase()))).toBe(expected);
});

const MOVED = new Date('2026-05-01T00:00:00Z');
const GRACE_MS = 14 * 86_400_000;
const LOST = [{ code: 'CLAIM_LOST' }];

type Domain = Parameters<typeof statusReason>[0];
const why = (more: Partial<Domain>, graceMs?: number) =>
  statusReason(
    {
      status: 'disabled',
      dnsMode: 'managed',
      disabledBy: 'checker',
      movedSince: null,
      findings: [],
      ...more,
    },
    graceMs,
  );

describe('the reason of a status', () => {
  it.each(['pending', 'active', 'unverified', 'banned'] as const)('is undefined for %s', (status) => {
    expect(why({ status, movedSince: MOVED }, GRACE_MS)).toBeUndefined();
  });

  it('of a moved domain is the other delegation, with the end of the grace period if it is known', () => {
    const moved = { reason: 'delegated_elsewhere', until: new Date('2026-05-15T00:00:00Z') };
    expect(why({ status: 'moved', movedSince: MOVED }, GRACE_MS)).toEqual(moved);
    expect(why({ status: 'moved', movedSince: MOVED })).toEqual({ ...moved, until: undefined });
    expect(why({ status: 'moved' }, GRACE_MS)?.until).toBeUndefined();
  });

  it.each<[Partial<Domain>, string]>([
    [{}, 'not_delegated'],
    [{ dnsMode: 'external' }, 'not_verified'],
    [{ findings: LOST }, 'claim_lost'],
    [{ dnsMode: 'external', findings: LOST }, 'claim_lost'],
    [{ disabledBy: 'operator' }, 'switched_off'],
    [{ disabledBy: null }, 'switched_off'],
  ])('of a disabled domain with %o is %s', (more, reason) => {
    expect(why(more, GRACE_MS)).toEqual({ reason, until: undefined });
  });
});

it.each([
  ['active', 'managed', 'full', undefined],
  ['pending', 'managed', 'apex', undefined],
  ['moved', 'managed', 'full', undefined],
  ['unverified', 'external', 'full', undefined],
  ['unverified', 'external', 'none', 'the domain is in external mode: it is not checked'],
  ['disabled', 'managed', 'none', 'the domain is disabled: it is not checked'],
  ['banned', 'external', 'none', 'the domain is banned: it is not checked'],
] as const)('a domain that is %s, in %s mode and served %s is checked, or has a reason not to be', (status, dnsMode, served, why) => {
  expect(whyUnchecked({ status, dnsMode, served })).toBe(why);
});
