import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Scan } from '../../src/checks/scan/scan.ts';
import { RCODE } from '../../src/dns/message/rcodes.ts';
import { printName } from '../../src/dns/name.ts';
import { printRdata } from '../../src/dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../src/dns/type-codes.ts';
import { isOfMail, learnNames, providerHosts } from '../../src/resolver/scan/learn-names.ts';
import { type Lane, NameQueue } from '../../src/resolver/scan/name-queue.ts';
import { groupOf, readWordGroups } from '../../src/resolver/scan/read-words.ts';
import { claimsOf, ScanHints } from '../../src/resolver/scan/scan-hints.ts';
import { LANGUAGES } from '../../src/resolver/scan/scan-languages.ts';
import {
  labelsBeside,
  namesBelow,
  namesBesides,
  reverseDepth,
  reverseLabels,
} from '../../src/resolver/scan/scan-names.ts';
import {
  COMMON_SELECTORS,
  companionsOf,
  proofHosts,
  selectorsOf,
  tellingHosts,
} from '../../src/resolver/scan/scan-selectors.ts';
import {
  isContainer,
  isReverseZone,
  servicesBelow,
  wantedAt,
} from '../../src/resolver/scan/scan-services.ts';
import { TRADES } from '../../src/resolver/scan/scan-trades.ts';
import { COMMON_WORDS, SCAN_WORDS } from '../../src/resolver/scan/scan-words.ts';
import type { PublicResolvers } from '../../src/resolver/state/public-resolvers.ts';
import { comInternet, testResolver } from '../support/world/test-resolver.ts';
import { type Conduct, name, reply, ZoneExchange, zone } from '../support/world/zone-exchange.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const DOMAIN = name('shop.com');

function learn(text: string): string[] {
  return recordsOf(`x.shop.com. 60 ${text}`).flatMap(({ type, rdata }) =>
    learnNames(DOMAIN, type, rdata).map(printName),
  );
}

function hosts(text: string): string[] {
  return recordsOf(`shop.com. 60 ${text}`).flatMap(({ type, rdata }) => providerHosts(type, rdata));
}

it.each([
  ['MX 10 Mail.shop.com.', ['mail.shop.com.']],
  ['MX 10 mail.host.net.', []],
  ['NS ns1.shop.com.', ['ns1.shop.com.']],
  ['CNAME shop.com.', []],
  ['SRV 0 0 5060 sip.shop.com.', ['sip.shop.com.']],
  ['HTTPS 1 front.shop.com. alpn=h2', ['front.shop.com.']],
  [
    'TXT "v=spf1 a:A.shop.com mx:b.shop.com/24 ~include:c.shop.com redirect=d.shop.com"',
    ['a', 'b', 'c', 'd'].map((each) => `${each}.shop.com.`),
  ],
  ['TXT "v=spf1 inclu" "de:joined.shop.com -all"', ['joined.shop.com.']],
  ['TXT "v=spf1 exists:%{i}._spf.shop.com a mx a:..shop.com -all"', []],
  ['TXT "v=spf10 a:a.shop.com"', []],
  [
    'TXT "v=DMARC1; p=none; rua=mailto:a@one.shop.com!10m,mailto:b@two.shop.com; ruf=mailto:c@host.net"',
    ['one.shop.com.', 'two.shop.com.'],
  ],
  ['TXT "v=TLSRPTv1; rua=mailto:a@tls.shop.com"', ['tls.shop.com.']],
  ['TXT "see a.shop.com"', []],
  ['A 5.6.7.8', []],
])('names are learned from %s', (text, names) => {
  expect(learn(text)).toEqual(names);
});

describe('a text that is meant to cause work', () => {
  const spf = (terms: readonly string[]) =>
    `TXT ${['v=spf1', ...terms].map((each) => `"${each} "`).join(' ')}`;

  it('is read up to a limit', () => {
    const padding = Array.from({ length: 20 }, () => 'x'.repeat(250));
    expect(learn(spf([...padding.slice(0, 15), 'a:near.shop.com']))).toEqual(['near.shop.com.']);
    expect(learn(spf([...padding, 'a:far.shop.com']))).toEqual([]);
  });

  it('yields a limited number of names', () => {
    const text = spf(Array.from({ length: 150 }, (_, i) => `a:h${i}.shop.com`));
    expect(learn(text)).toHaveLength(100);
    expect(hosts(text)).toHaveLength(100);
  });

  it('may contain an address of maximum length', () => {
    const report = (local: string) => `TXT "v=DMARC1; p=none; rua=mailto:${local}@to.shop.com"`;
    expect(learn(report('a'.repeat(64)))).toEqual(['to.shop.com.']);
    expect(learn(report('a'.repeat(65)))).toEqual([]);
  });
});

it('mail providers are identified by MX and SPF', () => {
  expect(hosts('MX 1 ASPMX.L.Google.com.')).toEqual(['aspmx.l.google.com']);
  expect(hosts('TXT "v=spf1 include:SendGrid.net -all"')).toEqual(['sendgrid.net']);
  expect(hosts('TXT "v=DMARC1; rua=mailto:a@sendgrid.net"')).toEqual([]);
});

it('providers are also identified by aliases and proofs', () => {
  expect(hosts('CNAME U1.wl.SendGrid.net.')).toEqual(['u1.wl.sendgrid.net']);
  expect(hosts('TXT "MS=ms123"')).toEqual(['outlook.com']);
  expect(hosts('A 5.6.7.8')).toEqual([]);
});

it.each([
  ['MX 1 mail.host.net.', true],
  ['TXT "v=spf1 ip4:5.6.7.8 -all"', true],
  ['TXT "hello"', false],
])('%s concerns mail: %s', (text, is) => {
  for (const { type, rdata } of recordsOf(`shop.com. 60 ${text}`)) expect(isOfMail(type, rdata)).toBe(is);
});

function fill(queue: NameQueue, lane: Lane, count: number): void {
  for (let i = 0; i < count; i++) queue.add(lane, name(`${lane}-${i}.shop.com`), false);
}

it('returns each name once, starting with those that records mention', () => {
  const queue = new NameQueue();
  queue.add('derived', name('a.shop.com'), false);
  queue.add('learned', name('b.shop.com'), true);
  queue.add('learned', name('a.shop.com'), true);
  expect([queue.next(), queue.next(), queue.next()].map((each) => each && printName(each.name))).toEqual([
    'b.shop.com.',
    'a.shop.com.',
    undefined,
  ]);
});

it('accepts as many names as a scan can query, and leaves room for those that records mention', () => {
  const queue = new NameQueue();
  fill(queue, 'derived', 6000);
  expect(queue.isOverfull).toBe(false);
  fill(queue, 'derived', 9000);
  expect([queue.size, queue.isOverfull]).toEqual([6000, true]);
  fill(queue, 'learned', 9000);
  expect(queue.size).toBe(8000);
});

describe('a word list', () => {
  const WORDS = new URL('../../src/resolver/scan/words/', import.meta.url);
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'words-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** Reads a file outside of the lists' directory, by its relative path. */
  function read(...lines: string[]) {
    writeFileSync(join(directory, 'list.txt'), lines.join('\n'));
    const file = join(relative(fileURLToPath(WORDS), directory), 'list');
    return readWordGroups(file, ['names'], ['signs']);
  }

  it('has groups and their words in the order of the file', () => {
    const groups = read(
      '# a head',
      '',
      '[b]',
      'names: www _tcp',
      '  hs1-% a.b',
      'signs: x',
      '[a c]',
      'names: z',
    );
    expect(groups).toEqual([
      { head: 'b', names: ['www', '_tcp', 'hs1-%', 'a.b'], signs: ['x'] },
      { head: 'a c', names: ['z'], signs: [] },
    ]);
    expect(groupOf(groups, 'a c').names).toEqual(['z']);
    expect(() => groupOf(groups, 'd')).toThrow('no group "d"');
  });

  it.each([
    ['a word before any group', ['names: www']],
    ['a line without a field', ['[a]', '  www']],
    ['a line that is not indented', ['[a]', 'names: www', 'mail']],
    ['two spaces between words', ['[a]', 'names: www  mail']],
    ['a space at the end', ['[a]', 'names: www ']],
    ['a tab', ['[a]', 'names: www\tmail']],
    ['a field without words', ['[a]', 'names:']],
    ['an unknown field', ['[a]', 'names: www', 'others: x']],
    ['a field twice', ['[a]', 'names: www', 'names: mail']],
    ['a group twice', ['[a]', 'names: www', '[a]', 'names: mail']],
    ['a group without a required field', ['[a]', 'signs: x']],
    ['a word twice', ['[a]', 'names: www mail', '  www']],
    ['upper case', ['[a]', 'names: WWW']],
    ['an empty label', ['[a]', 'names: a..b']],
    ['a comment after words', ['[a]', 'names: www # the web']],
  ])('with %s is rejected', (_, lines) => {
    expect(() => read(...lines)).toThrow(RangeError);
  });

  it.each(readdirSync(WORDS))('describes itself in its first line: %s', (file) => {
    expect(readFileSync(new URL(file, WORDS), 'utf8')).toMatch(/^# [A-Z]/);
  });
});

const PLAIN = { hasRecords: true, hasAddress: true, takesMail: false };

it('the list of names has about a thousand host labels, the common ones first', () => {
  expect(SCAN_WORDS.length).toBeGreaterThan(850);
  expect(SCAN_WORDS.length).toBeLessThan(1200);
  expect(new Set(SCAN_WORDS).size).toBe(SCAN_WORDS.length);
  expect(SCAN_WORDS.filter((word) => !/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(word))).toEqual([]);
  expect(SCAN_WORDS.slice(0, COMMON_WORDS.size).every((word) => COMMON_WORDS.has(word))).toBe(true);
});

describe('guesses next to a name', () => {
  it.each([
    ['web3', ['web2', 'web4', 'web1', 'web5']],
    ['node-09', ['node-08', 'node-10', 'node-07', 'node-11']],
    ['db1-prod', ['db0-prod', 'db2-prod', 'db3-prod']],
    ['0', ['1', '2']],
    ['ns', ['ns1', 'ns2', 'ns01']],
    ['blog', []],
  ])('are numbered like the name: %s', (label, beside) => {
    expect(labelsBeside(label)).toEqual(beside);
  });

  it('include the stages of an application', () => {
    expect(labelsBeside('portal')).toEqual(expect.arrayContaining(['portal-dev', 'staging-portal']));
  });
});

describe('guesses below a name', () => {
  it('include a wildcard and www', () => {
    expect(namesBelow('blog', PLAIN)).toEqual(['*', 'www']);
    const mail = { ...PLAIN, hasAddress: false, takesMail: true };
    expect(namesBelow('blog', mail)).toEqual(['*', 'www', '_dmarc', '_domainkey', 'autodiscover']);
    expect(namesBelow('blog', { ...PLAIN, hasRecords: false })).toContain('grafana');
  });

  it.each([
    ['mc', '_minecraft._tcp'],
    ['staging', 'grafana'],
    ['api', 'v2'],
    ['ad', '_msdcs'],
    ['physics', 'mail'],
  ])('that is %s, include %s', (label, below) => {
    expect(namesBelow(label, PLAIN)).toContain(below);
  });

  it('include hosts if there already is one', () => {
    expect(namesBesides('db')).toContain('api');
    expect([namesBesides('www'), namesBesides('_dmarc')]).toEqual([[], []]);
  });
});

describe('the types queried for a name', () => {
  it.each([
    ['www.shop.com', TYPE.A],
    ['_dmarc.shop.com', TYPE.TXT],
    ['_smtp._tls.shop.com', TYPE.TXT],
    ['_sip._tls.shop.com', TYPE.SRV],
    ['_ldap._tcp.shop.com', TYPE.SRV],
    ['_25._tcp.mail.shop.com', TYPE.TLSA],
    ['s1._domainkey.shop.com', TYPE.TXT],
    ['_tcp.shop.com', TYPE.TXT],
    ['_ldap._tcp.dc._msdcs.shop.com', TYPE.SRV],
    ['gc._msdcs.shop.com', TYPE.A],
    ['b._dns-sd._udp.shop.com', TYPE.PTR],
  ])('for %s begin with %i', (text, type) => {
    expect(wantedAt(name(text), { isReverse: false }).first).toBe(type);
  });

  it.each([
    ['_carddavs._tcp.shop.com', TYPE.TXT],
    ['_kerberos.shop.com', TYPE.URI],
    ['bastion2.shop.com', TYPE.SSHFP],
    ['voip.shop.com', TYPE.NAPTR],
  ])('for %s continue with %i', (text, type) => {
    expect(wantedAt(name(text), { isReverse: false }).further).toContain(type);
  });

  it('for a number in a reverse zone are PTR', () => {
    expect(isReverseZone(name('7.6.5.in-addr.arpa'))).toBe(true);
    expect(isReverseZone(name('in-addr.arpa.shop.com'))).toBe(false);
    expect(wantedAt(name('8.7.6.5.in-addr.arpa'), { isReverse: true })).toEqual({
      first: TYPE.PTR,
      further: [],
    });
    expect([reverseLabels(name('5.in-addr.arpa')).length, reverseDepth(name('5.in-addr.arpa'))]).toEqual([
      256, 6,
    ]);
    expect([reverseLabels(name('8.ip6.arpa')).length, reverseDepth(name('8.ip6.arpa'))]).toEqual([16, 34]);
  });

  it('lists services below their protocols', () => {
    expect(servicesBelow('_tcp', { isHost: false })).toContain('_etcd-server');
    expect(servicesBelow('_tcp', { isHost: true })).toContain('_465');
    expect(isContainer('_domainkey')).toBe(true);
    expect(isContainer('_dmarc')).toBe(false);
  });

  it.each(['constructor', '__proto__', 'toString'])('lists none below %s', (label) => {
    expect(isContainer(label)).toBe(false);
    expect(servicesBelow(label, { isHost: false })).toEqual([]);
  });
});

describe('the kind of a zone', () => {
  it('is detected by its own name, or by several names in it, once', () => {
    for (const each of ['some.edu', 'some.ac.uk', 'uni-some.de', 'someuniversity.org']) {
      expect(new ScanHints(name(each)).ofDomain()).toContain('weblogin');
    }
    const hints = new ScanHints(name('shop.com'));
    expect(hints.ofDomain()).toEqual([]);
    expect(hints.of(name('moodle.shop.com'))).toEqual([]);
    expect(hints.of(name('moodle.shop.com'))).toEqual([]);
    expect(hints.of(name('library.x.shop.com'))).toEqual([]);
    expect(hints.of(name('library.shop.com'))).toContain('weblogin');
    expect(hints.of(name('eduroam.shop.com'))).toEqual([]);
    expect(hints.of(name('_ldap._tcp.shop.com'))).toContain('_ldap._tcp.dc._msdcs');
  });

  it('by language is detected by its own name, or else by one word of it', () => {
    const spoken = new ScanHints(name('shop.at'));
    expect(spoken.ofDomain()).toContain('rechnungen');
    expect(spoken.probes()).not.toContain('recrutement');
    expect(spoken.probes()).toContain('minecraft');
    const hints = new ScanHints(name('shop.com'));
    expect(hints.probes()).toEqual(expect.arrayContaining(['kunden', 'recrutement', 'minecraft']));
    expect(hints.probes().filter((each) => each.includes('_'))).toEqual([]);
    expect(hints.of(name('kundenportal.shop.com'))).toContain('rechnungen');
    expect(hints.of(name('kunden.shop.com'))).toEqual([]);
  });

  it('is detected by words that no other language has', () => {
    for (const language of LANGUAGES) {
      const others = LANGUAGES.filter((other) => other !== language).flatMap(({ names }) => names);
      expect(others.filter((word) => language.signs.has(word))).toEqual([]);
    }
  });

  it('has host names without duplicates, and probes for its signs', () => {
    for (const { names, signs, probes = [] } of [...LANGUAGES, ...TRADES]) {
      const isHosts = /^(_?[a-z0-9]([a-z0-9-]*[a-z0-9])?)(\._?[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
      expect([...names, ...signs].filter((each) => !isHosts.test(each))).toEqual([]);
      expect(new Set(names).size).toBe(names.length);
      expect(probes.filter((each) => !signs.has(each))).toEqual([]);
    }
  });

  it('of an alias target determines the names that prove ownership to a provider', () => {
    expect(claimsOf('acme.github.io')).toEqual(['_github-pages-challenge-acme']);
    expect(claimsOf('shop.azurewebsites.net')).toEqual(['asuid']);
    expect(claimsOf('notgithub.io')).toEqual([]);
  });
});

describe('DKIM selectors', () => {
  it.each([
    [['aspmx.l.google.com'], 'google'],
    [['u123.wl.sendgrid.net'], 's2'],
    [['4455.spf03.hubspotemail.net'], 'hs2-4455'],
  ])('for %s include %s', (hosts, selector) => {
    expect(selectorsOf(hosts)).toContain(selector);
  });

  it('are not guessed from unknown hosts', () => {
    expect(selectorsOf(['mail.shop.com', 'notgoogle.com'])).toEqual([]);
    expect(selectorsOf(['spf.hubspotemail.net'])).toEqual(['hs1', 'hs2']);
    expect(new Set(COMMON_SELECTORS).size).toBe(COMMON_SELECTORS.length);
  });

  it('need one host per provider', () => {
    const many = Array.from({ length: 1000 }, (_, i) => `u${i}.sendgrid.net`);
    const all = [...many, 'mail.shop.com', 'spf.hubspotemail.net', '44.hubspotemail.net'];
    expect(tellingHosts(all)).toEqual(['u0.sendgrid.net', '44.hubspotemail.net']);
    expect(selectorsOf(tellingHosts(all))).toEqual(selectorsOf(all));
  });

  it('come with other names, and are also indicated by proofs', () => {
    expect(companionsOf(['relay.mailchannels.net'])).toEqual(['_mailchannels']);
    expect(companionsOf(['mail.shop.com'])).toEqual([]);
    expect(selectorsOf(proofHosts('protonmail-verification=abc'))).toContain('protonmail');
    expect(proofHosts('hello')).toEqual([]);
  });
});

describe('the servers that a scan queries', () => {
  const A = '5.5.5.5';
  const B = '5.5.5.6';
  const RESOLVERS = ['9.9.9.9', '8.8.8.8#5353'] as const;
  const DELEGATED = `shop NS ns1.shop\nshop NS ns2.shop\nns1.shop A ${A}\nns2.shop A ${B}`;
  const HELD = `@ NS ns1\n@ NS ns2\nns1 A ${A}\nns2 A ${B}\nwww A 5.6.7.1\nmail A 5.6.7.2\ndev NS ns.host.net.`;
  const WORDS = ['www', 'mail', 'api', 'dev'];
  const FOUND = [
    'shop.com. NS ns1.shop.com.',
    'shop.com. NS ns2.shop.com.',
    'dev.shop.com. NS ns.host.net.',
    'mail.shop.com. A 5.6.7.2',
    `ns1.shop.com. A ${A}`,
    `ns2.shop.com. A ${B}`,
    'www.shop.com. A 5.6.7.1',
  ];

  function shop(): ZoneExchange {
    const own = zone('shop.com.', HELD);
    return comInternet(DELEGATED).serve(A, own).serve(B, own);
  }

  /** They have the zones' data, with TTLs of 40 left. `taken`: the order in which their limits were used. */
  function resolvers(): { publicResolvers: PublicResolvers; exchange: ZoneExchange; taken: string[] } {
    const taken: string[] = [];
    const exchange = new ZoneExchange();
    const below = zone('dev.shop.com.', '@ NS ns.host.net.');
    for (const address of RESOLVERS) {
      exchange.serve(address, zone('shop.com.', HELD), below).behave(address, ({ honest }) => {
        const { rcode, answers } = honest();
        return reply({ ra: true, rcode, answers: answers.map((record) => ({ ...record, ttl: 40 })) });
      });
    }
    const rates = { take: async (address: string) => void taken.push(address) };
    return { publicResolvers: { exchange, addresses: RESOLVERS, rates }, exchange, taken };
  }

  function told({ records }: Scan): string[] {
    return records.map((each) => {
      return `${printName(each.name)} ${typeMnemonic(each.type)} ${printRdata(each.type, each.rdata)}`;
    });
  }

  const scan = (exchange: ZoneExchange, more: Parameters<typeof testResolver>[1] = {}, words = WORDS) =>
    testResolver(exchange, more).resolver.scanZone(name('shop.com'), { words });

  describe('the servers of a zone that is scanned', () => {
    it('are all queried, each within its limit', async () => {
      const exchange = shop();
      const { resolver, taken } = testResolver(exchange);
      const seen = await resolver.scanZone(name('shop.com'), { words: WORDS });
      expect(told(seen)).toEqual(FOUND);
      const atZone = exchange.asked.filter((line) => line.startsWith('5.5.5.'));
      expect(taken.filter((address) => address.startsWith('5.5.5.'))).toHaveLength(atZone.length);
      expect(new Set(taken)).toContain(A);
      expect(new Set(taken)).toContain(B);
    });

    it.each(['silent', 'bad'] as const)('are sufficient if one of them is %s', async (conduct) => {
      const exchange = shop().behave(A, () => conduct);
      const seen = await scan(exchange);
      expect(told(seen)).toEqual(FOUND);
      expect(seen).toMatchObject({ complete: true, shortfalls: [] });
      expect(exchange.asked.filter((line) => line.startsWith(`${A} `)).length).toBeLessThan(12);
    });

    it('are looked up if they have no known address', async () => {
      const own = zone('shop.com.', '@ NS ns1.host\n@ NS ns2.host\nwww A 5.6.7.1');
      const host = zone('host.com.', `@ NS ns1\nns1 A ${A}\nns2 A ${B}`);
      const exchange = comInternet(`shop NS ns1.host\nshop NS ns2.host\nhost NS ns1.host\nns1.host A ${A}`)
        .serve(A, own, host)
        .serve(B, own);
      const seen = await scan(exchange, {}, ['www']);
      expect(told(seen)).toContain('www.shop.com. A 5.6.7.1');
      const asked = (address: string) =>
        exchange.asked.filter((line) => line.startsWith(`${address} `)).length;
      expect(asked(A)).toBeGreaterThan(10);
      expect(asked(B)).toBeGreaterThan(10);
    });

    it('are queried again after a moment of silence', async () => {
      const exchange = shop();
      let asked = 0;
      exchange.behave(A, () => (++asked > 10 && asked <= 26 ? 'silent' : undefined));
      const words = Array.from({ length: 400 }, (_, i) => `host-${i}-x`);
      const seen = await scan(exchange, {}, [...WORDS, ...words]);
      expect(told(seen)).toEqual(FOUND);
      expect(seen.complete).toBe(true);
      expect(asked).toBeGreaterThan(100);
    });

    it('leave a scan incomplete if none of them answers a query', async () => {
      const exchange = shop();
      const fail: Conduct = ({ name: owner }) =>
        owner === 'mail.shop.com.' ? reply({ rcode: RCODE.SERVFAIL }) : undefined;
      const seen = await scan(exchange.behave(A, fail).behave(B, fail));
      expect(seen).toMatchObject({ complete: false, shortfalls: ['1 queries had no answer'] });
      expect(told(seen)).toEqual(FOUND.filter((line) => !line.startsWith('mail.')));
    });
  });

  describe('public resolvers', () => {
    it('are not queried while the zone answers', async () => {
      const { publicResolvers, taken } = resolvers();
      await scan(shop(), { publicResolvers });
      expect(taken).toEqual([]);
    });

    it.each<[string, ReturnType<Conduct>]>([
      ['are silent', 'silent'],
      ['refuse', reply({ rcode: RCODE.REFUSED })],
    ])('replace servers that %s, in turn and with the remaining TTLs', async (_, conduct) => {
      const { publicResolvers, exchange: theirs, taken } = resolvers();
      const exchange = shop();
      for (const address of [A, B]) exchange.behave(address, () => conduct);
      const seen = await scan(exchange, { publicResolvers });
      expect(told(seen)).toEqual(FOUND);
      expect(new Set(seen.records.map(({ ttl }) => ttl))).toEqual(new Set([40]));
      expect(seen).toMatchObject({ complete: false, queries: exchange.packets + theirs.packets });
      expect(seen.shortfalls).toEqual([expect.stringContaining('all answers are from public resolvers')]);
      const [one, other] = RESOLVERS.map((address) => taken.filter((each) => each === address).length);
      expect(Math.abs((one as number) - (other as number))).toBeLessThan(2);
      expect(exchange.asked.filter((line) => line.startsWith('5.5.5.')).length).toBeLessThan(60);
    });

    it('replace a parent that cannot be queried', async () => {
      const { publicResolvers } = resolvers();
      const exchange = shop();
      for (const address of ['192.5.6.30', '192.33.14.30']) exchange.behave(address, () => 'silent');
      const seen = await scan(exchange, { publicResolvers });
      expect(told(seen)).toEqual(FOUND);
      expect([seen.complete, seen.failure]).toEqual([false, undefined]);
    });
  });
});
