// Which entries a purge selects, and when it is finished.

import { expect, it } from 'vitest';
import { purgeProgress, readPurgeTarget } from '../../../src/features/cache/rules.ts';

const edge = (isLive: boolean, isDone: boolean) => ({ isLive, doneAt: isDone ? new Date() : null });

it.each([
  ['is finished if no edge serves the domain', [], null, [0, 0, true]],
  ['is open while one edge has not done it', [edge(true, true), edge(true, false)], null, [2, 1, false]],
  ['is finished if all edges have done it', [edge(true, true), edge(true, true)], null, [2, 2, true]],
  ['does not wait for an offline edge', [edge(true, true), edge(false, false)], null, [1, 1, true]],
  ['counts an offline edge that has done it', [edge(false, true)], null, [1, 1, true]],
  ['is open while all edges are offline', [edge(false, false)], null, [0, 0, false]],
  ['is not finished if it was replaced', [edge(true, true)], 7, [1, 1, false]],
] as const)('a purge %s', (_, edges, replacedBy, [counted, done, finished]) => {
  expect(purgeProgress(edges, replacedBy)).toEqual({ edges: counted, done, finished });
});

const read = (wish: object) => readPurgeTarget('shop.example', wish);
const problemOf = (wish: object) => {
  const target = read(wish);
  return 'problem' in target ? `${target.problem.field}: ${target.problem.error}` : target;
};

it.each<[string, object, object]>([
  ['an empty wish as everything', {}, { kind: 'all' }],
  ['a host in any case', { host: 'WWW.shop.example.' }, { kind: 'host', host: 'www.shop.example' }],
  ['a wildcard', { host: '*.shop.example' }, { kind: 'host', host: '*.shop.example' }],
  ['Unicode', { host: '*.Bücher.shop.example' }, { kind: 'host', host: '*.xn--bcher-kva.shop.example' }],
  ['an underscore', { host: '_x.shop.example' }, { kind: 'host', host: '_x.shop.example' }],
  [
    'a URL as a browser does',
    { url: 'HTTPS://Shop.Example:8443/a/../b%20c?x=1&y' },
    { kind: 'url', host: 'shop.example', path: '/b%20c', query: 'x=1&y' },
  ],
  [
    'a URL without a path',
    { url: 'http://www.shop.example' },
    { kind: 'url', host: 'www.shop.example', path: '/', query: '' },
  ],
  [
    'a prefix',
    { prefix: 'https://shop.example/img/' },
    { kind: 'prefix', host: 'shop.example', path: '/img/' },
  ],
])('parses %s', (_, wish, target) => {
  expect(read(wish)).toEqual(target);
});

it('accepts a row of the registry as a storage host of the domain and a literal path', () => {
  const row = { hostname: '*.shop.example', store_path: '/a b/../%2e' };
  expect(read(row)).toEqual({ kind: 'stored', ...row });
});

it.each([
  [{ hostname: 'shop.example' }, /^store_path: required with hostname/],
  [{ prefix: 'https://shop.example/?a' }, /^prefix: a prefix must not have a query/],
  [{ store_path: '/x' }, /^hostname: required with store_path/],
  [{ hostname: '*.other.example', store_path: '/x' }, /^hostname: .* does not belong/],
  [
    { host: 'shop.example', hostname: 'shop.example', store_path: '/x' },
    /^hostname: only one of host, hostname/,
  ],
  [{ host: 'other.example' }, /^host: other\.example does not belong to the domain shop\.example$/],
  [{ host: 'evilshop.example' }, /^host: evilshop\.example does not belong/],
  [{ host: 'http://shop.example' }, /^host: expected a host name/],
  [{ host: 'shop.example:80' }, /^host: expected a host name/],
  [{ host: 'a.*.shop.example' }, /^host: expected a host name/],
  [{ url: 'https://shop.example.evil.example/' }, /^url: .* does not belong/],
  [{ url: 'https://shop.example@evil.example/' }, /^url: URLs with a user/],
  [{ url: 'https://shop.example/#x' }, /^url: URLs with a user, a password or a fragment/],
  [{ url: '/only/a/path' }, /^url: expected a full URL/],
  [{ url: 'ftp://shop.example/' }, /^url: expected a full URL/],
  [{ url: 'https://[::1]/' }, /^url: \[::1\] does not belong/],
  [{ host: 'shop.example', url: 'https://shop.example/' }, /^url: only one of host, url can be given$/],
])('rejects %j', (wish, message) => {
  expect(problemOf(wish)).toMatch(message);
});
