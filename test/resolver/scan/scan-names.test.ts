import { describe, expect, it } from 'vitest';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { claimsOf, ScanHints } from '../../../src/resolver/scan/scan-hints.ts';
import { LANGUAGES } from '../../../src/resolver/scan/scan-languages.ts';
import {
  labelsBeside,
  namesBelow,
  namesBesides,
  reverseDepth,
  reverseLabels,
} from '../../../src/resolver/scan/scan-names.ts';
import {
  COMMON_SELECTORS,
  companionsOf,
  proofHosts,
  selectorsOf,
  tellingHosts,
} from '../../../src/resolver/scan/scan-selectors.ts';
import {
  isContainer,
  isReverseZone,
  servicesBelow,
  wantedAt,
} from '../../../src/resolver/scan/scan-services.ts';
import { TRADES } from '../../../src/resolver/scan/scan-trades.ts';
import { COMMON_WORDS, SCAN_WORDS } from '../../../src/resolver/scan/scan-words.ts';
import { name } from '../../support/world/zone-exchange.ts';

const PLAIN = { hasRecords: true, hasAddress: true, takesMail: false };

describe('the list of names', () => {
  it('has about a thousand labels of hosts, the common ones first', () => {
    expect(SCAN_WORDS.length).toBeGreaterThan(850);
    expect(SCAN_WORDS.length).toBeLessThan(1200);
    expect(new Set(SCAN_WORDS).size).toBe(SCAN_WORDS.length);
    expect(SCAN_WORDS.filter((word) => !/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(word))).toEqual([]);
    expect(SCAN_WORDS.slice(0, COMMON_WORDS.size).every((word) => COMMON_WORDS.has(word))).toBe(true);
  });
});

describe('beside a name', () => {
  it.each([
    ['web3', ['web2', 'web4', 'web1', 'web5']],
    ['node-09', ['node-08', 'node-10', 'node-07', 'node-11']],
    ['db1-prod', ['db0-prod', 'db2-prod', 'db3-prod']],
    ['0', ['1', '2']],
    ['ns', ['ns1', 'ns2', 'ns01']],
    ['blog', []],
  ])('like %s others may stand', (label, beside) => {
    expect(labelsBeside(label)).toEqual(beside);
  });

  it('that is an application its stages may stand', () => {
    expect(labelsBeside('portal')).toEqual(expect.arrayContaining(['portal-dev', 'staging-portal']));
  });
});

describe('below a name', () => {
  it('a wildcard and www are sought', () => {
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
  ])('that is %s, %s is sought', (label, below) => {
    expect(namesBelow(label, PLAIN)).toContain(below);
  });

  it('hosts are sought if there is one already', () => {
    expect(namesBesides('db')).toContain('api');
    expect([namesBesides('www'), namesBesides('_dmarc')]).toEqual([[], []]);
  });
});

describe('the types that a name is asked for', () => {
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
  ])('of %s begin with %i', (text, type) => {
    expect(wantedAt(name(text), { isReverse: false }).first).toBe(type);
  });

  it.each([
    ['_carddavs._tcp.shop.com', TYPE.TXT],
    ['_kerberos.shop.com', TYPE.URI],
    ['bastion2.shop.com', TYPE.SSHFP],
    ['voip.shop.com', TYPE.NAPTR],
  ])('of %s go on with %i', (text, type) => {
    expect(wantedAt(name(text), { isReverse: false }).further).toContain(type);
  });

  it('of a number in a reverse zone is PTR', () => {
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
  it('is told by its own name, or by several names in it, once', () => {
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

  it('of its language is told by its own name, or else by one word of it', () => {
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

  it('is told by words that no other language has', () => {
    for (const language of LANGUAGES) {
      const others = LANGUAGES.filter((other) => other !== language).flatMap(({ names }) => names);
      expect(others.filter((word) => language.signs.has(word))).toEqual([]);
    }
  });

  it('has names of hosts, none twice, and asks for signs of its own', () => {
    for (const { names, signs, probes = [] } of [...LANGUAGES, ...TRADES]) {
      const isHosts = /^(_?[a-z0-9]([a-z0-9-]*[a-z0-9])?)(\._?[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
      expect([...names, ...signs].filter((each) => !isHosts.test(each))).toEqual([]);
      expect(new Set(names).size).toBe(names.length);
      expect(probes.filter((each) => !signs.has(each))).toEqual([]);
    }
  });

  it('of an alias shows what proves its name', () => {
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
  ])('of %s have %s among them', (hosts, selector) => {
    expect(selectorsOf(hosts)).toContain(selector);
  });

  it('are not guessed from hosts that nobody knows', () => {
    expect(selectorsOf(['mail.shop.com', 'notgoogle.com'])).toEqual([]);
    expect(selectorsOf(['spf.hubspotemail.net'])).toEqual(['hs1', 'hs2']);
    expect(new Set(COMMON_SELECTORS).size).toBe(COMMON_SELECTORS.length);
  });

  it('need one host of each provider', () => {
    const many = Array.from({ length: 1000 }, (_, i) => `u${i}.sendgrid.net`);
    const all = [...many, 'mail.shop.com', 'spf.hubspotemail.net', '44.hubspotemail.net'];
    expect(tellingHosts(all)).toEqual(['u0.sendgrid.net', '44.hubspotemail.net']);
    expect(selectorsOf(tellingHosts(all))).toEqual(selectorsOf(all));
  });

  it('go with other names, and are shown by proofs too', () => {
    expect(companionsOf(['relay.mailchannels.net'])).toEqual(['_mailchannels']);
    expect(companionsOf(['mail.shop.com'])).toEqual([]);
    expect(selectorsOf(proofHosts('protonmail-verification=abc'))).toContain('protonmail');
    expect(proofHosts('hello')).toEqual([]);
  });
});
