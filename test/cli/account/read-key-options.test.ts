import { describe, expect, it } from 'vitest';
import { readKeyOptions } from '../../../src/cli/account/read-key-options.ts';
import { Failure } from '../../../src/cli/terminal/failure.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const read = (options: object) => readKeyOptions({ name: 'x', ...options }, NOW);

describe('the restrictions of a key', () => {
  it('are unlimited by default', () => {
    expect(read({})).toEqual({
      name: 'x',
      readOnly: false,
      expiresAt: null,
      domains: null,
      names: null,
      types: null,
    });
  });

  it.each([
    ['90d', '2026-05-30T12:00:00.000Z'],
    ['12h', '2026-03-02T00:00:00.000Z'],
    ['2026-03-02', '2026-03-02T00:00:00.000Z'],
    ['2026-03-02T08:00+01:00', '2026-03-02T07:00:00.000Z'],
  ])('--expires %s is %s', (expires, moment) => {
    expect(read({ expires }).expiresAt?.toISOString()).toBe(moment);
  });

  it('are normalized for comparison', () => {
    expect(read({ domains: 'Shop.example., SHOP.example ,bücher.de', types: 'a, Txt,A' })).toMatchObject({
      domains: ['shop.example', 'xn--bcher-kva.de'],
      types: ['A', 'TXT'],
    });
    expect(read({ names: '*.Shop.example,_dmarc.shop.example.' }).names).toEqual([
      '*.shop.example',
      '_dmarc.shop.example',
    ]);
  });

  it('--acme is the name of the challenge for each name and its wildcard, and the type TXT', () => {
    expect(read({ acme: 'Shop.example,*.shop.example, www.shop.example' })).toMatchObject({
      names: ['_acme-challenge.shop.example', '_acme-challenge.www.shop.example'],
      types: ['TXT'],
      domains: null,
    });
  });

  it.each([
    [{ acme: 'shop.example', types: 'TXT' }, '--acme: cannot be combined'],
    [{ acme: 'shop.example', readOnly: true }, '--acme: cannot be combined with --read-only'],
    [{ acme: '_acme-challenge.shop.example' }, '--acme: expected the name in the certificate'],
    [{ acme: 'a..b' }, '--acme: a name must not'],
    [{ acme: 'www.b.com', domains: 'a.com' }, '--acme: _acme-challenge.www.b.com is not in any'],
    [{ expires: 'soon' }, '--expires: expected'],
    [{ expires: '2026-13-01' }, '--expires: expected'],
    [{ expires: '999999d' }, '--expires: expected'],
    [{ expires: '2026-02-28' }, 'in the past'],
    [{ domains: 'a..b' }, '--domains'],
    [{ domains: 'a.com,' }, 'a comma-separated list'],
    [{ names: 'a b.com' }, '--names'],
    [{ types: 'SOA' }, '--types: the type must be one of A, AAAA'],
    [{ domains: 'a.com', names: 'www.b.com' }, '--names: www.b.com is not in any of the domains'],
  ])('%j is a usage error', (options, message) => {
    expect(() => read(options)).toThrow(Failure);
    expect(() => read(options)).toThrow(message);
  });
});
