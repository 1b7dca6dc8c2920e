import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ACME_TOOLS, acmeConfig } from '../../../../console/src/screens/account/acme-config.ts';
import {
  certificateNames,
  challengeOf,
  domainCandidates,
  domainOf,
} from '../../../../console/src/screens/account/certificate-names.ts';
import { account } from '../../../../console/src/words/account.ts';
import { ROOT } from '../../../support/tests/sources.ts';

describe('certificateNames', () => {
  it('splits and normalizes names, and removes duplicates', () => {
    expect(certificateNames(' Shop.example., *.shop.example shop.example')).toEqual([
      'shop.example',
      '*.shop.example',
    ]);
    expect(certificateNames(' ')).toEqual([]);
  });

  it('accepts the names of challenges', () =>
    expect(certificateNames('_acme-challenge.shop.example')).toEqual(['shop.example']));
});

it('a name and its wildcard have the same challenge', () => {
  expect(challengeOf('shop.example')).toBe('_acme-challenge.shop.example');
  expect(challengeOf('*.shop.example')).toBe('_acme-challenge.shop.example');
});

it('domainCandidates returns the name and its parents, without the top level', () => {
  expect(domainCandidates('*.a.shop.example')).toEqual(['a.shop.example', 'shop.example']);
  expect(domainCandidates('example')).toEqual([]);
});

describe('domainOf', () => {
  const domain = (name: string, name_unicode = name) => ({ name, name_unicode });
  const domains = [
    domain('shop.example'),
    domain('eu.shop.example'),
    domain('xn--bcher-kva.example', 'bücher.example'),
  ];

  it('returns the domain with the longest name', () => {
    expect(domainOf('www.eu.shop.example', domains)?.name).toBe('eu.shop.example');
    expect(domainOf('*.shop.example', domains)?.name).toBe('shop.example');
  });

  it('knows both forms of an internationalized name', () => {
    expect(domainOf('www.bücher.example', domains)?.name).toBe('xn--bcher-kva.example');
    expect(domainOf('xn--bcher-kva.example', domains)?.name).toBe('xn--bcher-kva.example');
  });

  it('returns undefined for a name in no domain', () => {
    expect(domainOf('myshop.example', domains)).toBeUndefined();
  });
});

describe('acmeConfig', () => {
  const asked = { api: 'https://api.example.net', key: 'svc_your_key', email: 'ann@shop.example' };

  it.each(ACME_TOOLS)('for %s contains the files and commands of its page', (tool) => {
    const apex = tool === 'dehydrated' ? 'shop.net' : 'shop.example';
    const name = tool === 'certbot' ? 'certbot-powerdns' : tool;
    const page = readFileSync(join(ROOT, `docs/tools/${name}.md`), 'utf8');
    const lines = acmeConfig(tool, { ...asked, names: [apex, `*.${apex}`] });
    expect(lines.length).toBeGreaterThan(1);
    for (const { text } of lines) expect(page).toContain(text.trim());
  });

  it('has a text for every tool', () => {
    const { toolNames, tools } = account.keys.acme;
    for (const texts of [toolNames, tools]) expect(Object.keys(texts).sort()).toEqual([...ACME_TOOLS].sort());
  });
});
