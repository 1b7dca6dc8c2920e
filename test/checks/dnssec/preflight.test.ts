// When the nameservers of a domain have shown that it would validate.

import { describe, expect, it } from 'vitest';
import { judgePreflight } from '../../../src/checks/dnssec/preflight.ts';
import { name } from '../../support/world/zone-exchange.ts';

const DOMAIN = name('shop.test');

const server = (i: number, verifiedBy: readonly string[] | 'silent') =>
  ({
    server: DOMAIN,
    address: `5.9.0.${i}`,
    outcome: verifiedBy === 'silent' ? 'silent' : 'answered',
    verifiedBy: verifiedBy === 'silent' ? [] : verifiedBy,
    hasStrangers: false,
    error: verifiedBy.length === 0 ? 'a signature is wrong' : undefined,
  }) as const;

const evidence = { missing: [], failure: undefined };

describe('the preflight of a key', () => {
  it.each([
    [4, 0, 0, 0, ['a']],
    [3, 1, 0, 0, ['a']],
    [3, 0, 1, 0, ['a']],
    [2, 1, 0, 0, []],
    [3, 1, 1, 0, []],
    [0, 0, 0, 0, []],
    [0, 2, 0, 0, []],
    [9, 0, 0, 1, []],
  ])('%i verified, %i silent, %i without address, %i not verified: %j', (good, silent, missing, bad, keys) => {
    const { verifiedBy, failure } = judgePreflight({
      ...evidence,
      servers: [
        ...Array.from({ length: good }, (_, i) => server(i, ['a'])),
        ...Array.from({ length: silent }, (_, i) => server(i, 'silent')),
        ...Array.from({ length: bad }, (_, i) => server(i, [])),
      ],
      missing: Array.from({ length: missing }, () => DOMAIN),
    });
    expect(verifiedBy).toEqual(keys);
    expect(failure === undefined).toBe(keys.length > 0);
  });

  it('counts a key only where every address verifies with it', () => {
    const servers = [server(1, ['a', 'b']), server(2, ['b']), server(3, ['b', 'c'])];
    expect(judgePreflight({ ...evidence, servers }).verifiedBy).toEqual(['b']);
  });

  it('says nothing while the parent delegates the domain to nobody', () => {
    expect(judgePreflight({ ...evidence, servers: [], failure: 'to nobody' })).toEqual({
      verifiedBy: [],
      hasStrangers: false,
      failure: 'to nobody',
    });
  });
});
