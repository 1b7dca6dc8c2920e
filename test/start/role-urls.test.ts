import { expect, it } from 'vitest';
import { roleUrls } from '../../src/start/role-urls.ts';

const PASSWORDS = { zonefleet_node: 'n0de-pass', zonefleet_api: 'api-pass' };

it.each([
  ['postgresql://owner:secret@db:5432/zonefleet?sslmode=require', 'db:5432/zonefleet?sslmode=require'],
  ['postgres://owner@db/zonefleet', 'db/zonefleet'],
  ['postgresql://db/zonefleet?options=a@b', 'db/zonefleet?options=a@b'],
  ['postgresql://zonefleet:secret@/zonefleet?host=%2Frun', '/zonefleet?host=%2Frun'],
])('the URL of a process has its role and password instead of the owner’s: %s', (url, rest) => {
  const urls = roleUrls(url, PASSWORDS);
  const [scheme] = url.split('//');
  expect(urls.of('nameserver')).toBe(`${scheme}//zonefleet_node:n0de-pass@${rest}`);
  expect(urls.of('API')).toBe(`${scheme}//zonefleet_api:api-pass@${rest}`);
  expect(urls.owner).toBe(url);
});

it('a process whose role has no password connects as the owner', () => {
  expect(roleUrls('postgresql://owner@db/x', PASSWORDS).of('workers')).toBe('postgresql://owner@db/x');
});
