// Which requests a purge reaches, and how far it is.

import { expect, it } from 'vitest';
import { purgeProgress, readPurgeTarget } from '../../../src/features/cache/rules.ts';

const edge = (isLive: boolean, isDone: boolean) => ({ isLive, doneAt: isDone ? new Date() : null });

it.each([
  ['no edge serves the domain', [], null, [0, 0, true]],
  ['one has not done it', [edge(true, true), edge(true, false)], null, [2, 1, false]],
  ['all have done it', [edge(true, true), edge(true, true)], null, [2, 2, true]],
  ['a silent one has not', [edge(true, true), edge(false, false)], null, [1, 1, true]],
  ['a silent one had', [edge(false, true)], null, [1, 1, true]],
  ['all are silent', [edge(false, false)], null, [0, 0, false]],
  ['another takes its place', [edge(true, true)], 7, [1, 1, false]],
] as const)('a purge: %s', (_, edges, replacedBy, [counted, done, finished]) => {
  expect(purgeProgress(edges, replacedBy)).toEqual({ edges: counted, done, finished });
});

const read = (wish: object) => readPurgeTarget('shop.example', wish);
const problemOf = (wish: object) => {
  const target = read(wish);
  return 'problem' in target ? `${target.problem.field}: ${target.problem.error}` : target;
};

it.each<[string, object, object]>([
  ['nothing is everything', {}, { kind: 'all' }],
  ['a host in any case', { host: 'WWW.shop.example.' }, { kind: 'host', host: 'www.shop.example' }],
  ['a wildcard', { host: '*.shop.example' }, { kind: 'host', host: '*.shop.example' }],
  ['Unicode', { host: '*.Bücher.shop.example' }, { kind: 'host', host: '*.xn--bcher-kva.shop.example' }],
  ['an underscore', { host: '_x.shop.example' }, { kind: 'host', host: '_x.shop.example' }],
  [
    'a URL is read as a browser reads it',
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
])('a target is read: %s', (_, wish, target) => {
  expect(read(wish)).toEqual(target);
});

it('a row of the registry is a storage host of the domain with a path, which is taken as it is', () => {
  const row = { hostname: '*.shop.example', store_path: '/a b/../%2e' };
  expect(read(row)).toEqual({ kind: 'stored', ...row });
});

it.each([
  [{ hostname: 'shop.example' }, /^store_path: expected beside hostname/],
  [{ prefix: 'https://shop.example/?a' }, /^prefix: a prefix has no query/],
  [{ store_path: '/x' }, /^hostname: expected beside store_path/],
  [{ hostname: '*.other.example', store_path: '/x' }, /^hostname: .* does not belong/],
  [
    { host: 'shop.example', hostname: 'shop.example', store_path: '/x' },
    /^hostname: only one of host, hostname/,
  ],
  [{ host: 'other.example' }, /^host: other\.example does not belong to the domain shop\.example$/],
  [{ host: 'evilshop.example' }, /^host: evilshop\.example does not belong/],
  [{ host: 'http://shop.example' }, /^host: expected the name of a host/],
  [{ host: 'shop.example:80' }, /^host: expected the name of a host/],
  [{ host: 'a.*.shop.example' }, /^host: expected the name of a host/],
  [{ url: 'https://shop.example.evil.example/' }, /^url: .* does not belong/],
  [{ url: 'https://shop.example@evil.example/' }, /^url: a URL with a user/],
  [{ url: 'https://shop.example/#x' }, /^url: a URL with a user, a password or a fragment/],
  [{ url: '/only/a/path' }, /^url: expected a whole URL/],
  [{ url: 'ftp://shop.example/' }, /^url: expected a whole URL/],
  [{ url: 'https://[::1]/' }, /^url: \[::1\] does not belong/],
  [{ host: 'shop.example', url: 'https://shop.example/' }, /^url: only one of host, url can be given$/],
])('%j is refused', (wish, message) => {
  expect(problemOf(wish)).toMatch(message);
});
