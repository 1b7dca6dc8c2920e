import { expect, it } from 'vitest';
import { readBuild } from '../../../src/process/build.ts';
import { sharedTestApi } from '../../support/api/api.ts';

const api = sharedTestApi();

const open = (path: string, headers = {}) => api.ask('GET', path, { as: null, headers });

it('/ has the version and lists the entry points, and each responds without authentication', async () => {
  const { status, body } = await open('/');
  expect(status).toBe(200);
  const { version, commit, ...entries } = body;
  expect({ version, commit }).toEqual(readBuild());
  const places: string[] = Object.values(entries);
  expect(places).toEqual(['/docs', '/openapi.yaml', '/openapi.json', '/healthz', '/readyz']);
  for (const place of places) expect([place, (await open(place)).status]).toEqual([place, 200]);
});

it('/docs loads only files of this process, and its policy forbids others', async () => {
  const { status, headers, text } = await open('/docs');
  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  expect(text).not.toMatch(/<script>|<style| style=| on\w+=|https?:/);
  const loaded = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, url]) => url as string);
  expect(loaded.length).toBeGreaterThan(3);
  for (const url of loaded) {
    expect(url).toMatch(/^\//);
    const { status, headers } = await open(url);
    expect([url, status, headers['x-content-type-options']]).toEqual([url, 200, 'nosniff']);
  }
  const start = await open('/docs/start.js');
  const [, described] = /url: '([^']+)'/.exec(start.text) ?? [];
  expect((await open(described as string)).body.openapi).toBe('3.1.0');
  expect(start.text).toContain('validatorUrl: null');
});

it('a file of the page is sent again only if it has changed', async () => {
  const first = await open('/docs/viewer.css');
  expect([first.status, first.headers['content-type']]).toEqual([200, 'text/css; charset=utf-8']);
  const again = await open('/docs/viewer.css', { 'if-none-match': first.headers.etag });
  expect([again.status, again.text]).toEqual([304, '']);
});
