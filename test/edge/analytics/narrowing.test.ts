// What a filter of hosts and paths means.

import { describe, expect, it } from 'vitest';
import { readNarrowing } from '../../../src/edge/analytics/narrowing.ts';

const read = (hostname?: string, path?: string) => readNarrowing('shop.test', { hostname, path });

describe('a host name', () => {
  it.each([
    ['shop.test', { kind: 'below', host: 'shop.test' }],
    ['WWW.Shop.Test.', { kind: 'below', host: 'www.shop.test' }],
    ['elsewhere.test', { kind: 'below', host: 'elsewhere.test' }],
    ['www', { kind: 'host', host: 'www.shop.test' }],
    ['ww', { kind: 'host', host: 'ww.shop.test' }],
    ['bücher', { kind: 'host', host: 'xn--bcher-kva.shop.test' }],
    ['%', { kind: 'host', host: '%.shop.test' }],
    ["x' or 1=1 --", { kind: 'host', host: "x' or 1=1 --.shop.test" }],
    ['a\\.b', { kind: 'below', host: 'a\\.b' }],
  ] as const)('%s', (text, host) => {
    expect(read(text)).toEqual({ host });
  });

  it('that is empty narrows nothing', () => {
    expect([read(), read('', '')]).toEqual([{}, {}]);
  });
});

describe('a path', () => {
  it('is the beginning of paths, as it is written', () => {
    expect(read(undefined, '/a%20b/*')).toEqual({ path: '/a%20b/*' });
  });

  it.each(['shop', '*', '/a?b', '/a#b'])('%s is none', (path) => {
    expect(read(undefined, path)).toMatchObject({ problem: { field: 'path' } });
  });
});
