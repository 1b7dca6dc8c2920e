import { expect, it } from 'vitest';
import { isOurHost } from '../../src/process/judge-host.ts';

const HOSTS = ['node1.example.net'];

it.each([
  undefined,
  '127.0.0.1:9153',
  '192.0.2.1',
  '[::1]:9153',
  '[2001:db8::1]',
  'localhost:9153',
  'LOCALHOST',
  'api.localhost',
  'nameserver:9153',
  'node1.example.net:9153',
  'Node1.Example.Net',
])('is asked by %s', (host) => {
  expect(isOurHost(host, HOSTS)).toBe(true);
});

it.each([
  'evil.example:9153',
  '127.0.0.1.evil.example',
  'localhost.evil.example',
  'node2.example.net',
  'node1.example.net.evil.example',
  'evil.',
  '[evil.example]',
  '[::1',
  '::1',
  'localhost@evil.example',
  'localhost:80:80',
  'localhost:x',
  'a b',
  '',
])('is not asked by %j', (host) => {
  expect(isOurHost(host, HOSTS)).toBe(false);
});
