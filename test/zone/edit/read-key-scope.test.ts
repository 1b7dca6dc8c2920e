import { describe, expect, it } from 'vitest';
import { readKeyScope } from '../../../src/zone/edit/read-key-scope.ts';

describe('what a key is narrowed to', () => {
  it('is nothing unless said', () => {
    expect(readKeyScope({})).toEqual({ kind: 'scope', scope: { domains: null, names: null, types: null } });
  });

  it('is in the one form that keys are compared in', () => {
    expect(
      readKeyScope({
        domains: ['Shop.example.', 'SHOP.example', 'bücher.de'],
        names: ['*.Shop.example', '_dmarc.shop.example.'],
        types: ['a', 'Txt', 'A'],
      }),
    ).toEqual({
      kind: 'scope',
      scope: {
        domains: ['shop.example', 'xn--bcher-kva.de'],
        names: ['*.shop.example', '_dmarc.shop.example'],
        types: ['A', 'TXT'],
      },
    });
  });

  it.each([
    [{ domains: ['a.com', 'a..b'] }, 'domains', 1, /./],
    [{ names: ['a b.com'] }, 'names', 0, /./],
    [{ types: ['A', 'SOA'] }, 'types', 1, /^expected A, AAAA.*, not "SOA"$/],
    [{ domains: ['a.com'], names: ['a.com', 'www.b.com'] }, 'names', 1, /^www\.b\.com lies in none of/],
  ])('%j is refused, with the item that is wrong', (lists, field, index, message) => {
    const problem = { kind: 'problem', field, index, message: expect.stringMatching(message) };
    expect(readKeyScope(lists)).toEqual(problem);
  });
});
