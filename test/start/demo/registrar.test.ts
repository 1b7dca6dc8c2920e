// The registrar's page and JSON, requested as browsers, other sites and programs do.

import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as ask, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRegistrar } from '../../../src/start/demo/registrar.ts';
import { Registry } from '../../../src/start/demo/registry.ts';

const NS = ['ns1.zonefleet.example', 'ns2.zonefleet.example'];
const MARKUP = `<script>alert("1")</script>'&`;
let directory: string;
let file: string;
let registry: Registry;
let server: Server;
let authority: string;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'zf-registrar-'));
  file = join(directory, 'registry.json');
  registry = new Registry(file, new Map([['shop.test', []]]));
  server = createRegistrar(registry, () => authority);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  authority = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
  rmSync(directory, { recursive: true });
});

interface Replied {
  readonly status: number | undefined;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

/** With headers that `fetch` would not send. */
async function send(
  method: string,
  path: string,
  { headers = {}, body = '' }: { headers?: Record<string, string>; body?: string } = {},
): Promise<Replied> {
  const [host, port] = authority.split(':');
  const sent = ask({ host, port, method, path, headers: { host: authority, ...headers } });
  sent.end(body);
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return { status: response.statusCode, headers: response.headers, text };
}

const put = (name: string, body: string, headers: Record<string, string> = {}) =>
  send('PUT', `/names/${name}`, { headers: { 'content-type': 'application/json', ...headers }, body });
const form = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  send('POST', '/names', {
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: `http://${authority}`,
      ...headers,
    },
    body: new URLSearchParams(fields).toString(),
  });
const nameservers = (name = 'shop.test') => registry.registrations().get(name);

describe('the page', () => {
  it('shows each name with its nameservers, and allows no scripts', async () => {
    registry.change('shop.test', NS, 1);
    const { status, headers, text } = await send('GET', '/');
    expect(status).toBe(200);
    expect(text).toContain(
      `<textarea name="nameservers" rows="3" spellcheck="false">\n${NS.join('\n')}</textarea>`,
    );
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'self';.*form-action 'self'/,
    );
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['referrer-policy']).toBe('same-origin');
    expect(text).not.toMatch(/<script|style=|<style|javascript:/i);
  });

  it('accepts its own form, and redirects to the page', async () => {
    const { status, headers } = await form({ name: 'Shop.test.', nameservers: `${NS[1]}\r\n${NS[0]}, ` });
    expect([status, headers.location]).toEqual([303, '/?saved=shop.test#shop.test']);
    expect(nameservers()).toEqual(NS);
    expect((await send('GET', headers.location as string)).text).toContain('Saved');
  });

  it.each([
    ['name', { name: MARKUP, nameservers: NS[0] as string }],
    ['nameservers', { name: 'shop.test', nameservers: MARKUP }],
    ['nameservers of a new name', { name: 'new.test', nameservers: `</textarea>${MARKUP}` }],
  ])('shows markup in the %s as text with the error, and changes nothing', async (_, fields) => {
    const { status, text } = await form(fields);
    expect(status).toBe(422);
    expect(text).not.toContain('<script');
    expect(text).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;');
    expect(text).toContain('role="alert"');
    expect([...registry.registrations()]).toEqual([['shop.test', []]]);
  });

  it('does not show text from a link to it', async () => {
    expect((await send('GET', `/?saved=${encodeURIComponent(MARKUP)}`)).text).not.toContain('alert');
  });
});

describe('other sites', () => {
  const fields = { name: 'shop.test', nameservers: NS[0] as string };
  it.each(
    'http://evil.example null https://127.0.0.1 http://localhost:8063'.split(' '),
  )('a form from %s is rejected', async (origin) => {
    expect((await form(fields, { origin })).status).toBe(403);
    expect(nameservers()).toEqual([]);
  });

  it('a form that hides its origin, JSON from another one or sent as text, and foreign host names are rejected', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams(fields).toString();
    expect((await send('POST', '/names', { headers, body })).status).toBe(403);
    expect(nameservers()).toEqual([]);
    const second = JSON.stringify({ nameservers: NS });
    expect((await put('shop.test', second, { origin: 'http://evil.example' })).status).toBe(403);
    expect((await put('shop.test', second, { 'content-type': 'text/plain' })).status).toBe(415);
    expect(nameservers()).toEqual([]);
    const host = 'rebound.example';
    expect((await send('GET', '/names', { headers: { host } })).status).toBe(403);
    expect((await put('shop.test', '{"nameservers":[]}', { host })).status).toBe(403);
    expect((await form(fields, { host, origin: `http://${host}` })).status).toBe(403);
    expect(nameservers()).toEqual([]);
  });
});

describe('limits', () => {
  it('a body of more than 16 KiB is rejected, and the response can be read', async () => {
    const large = 'x'.repeat(300_000);
    expect((await form({ name: 'shop.test', nameservers: large })).status).toBe(413);
    expect((await put('shop.test', JSON.stringify({ nameservers: [large] }))).status).toBe(413);
    expect(nameservers()).toEqual([]);
  });

  it('a domain has at most 13 nameservers, and the registry 200 names', async () => {
    const many = Array.from({ length: 14 }, (_, i) => `ns${i}.provider.example`);
    const refused = await put('shop.test', JSON.stringify({ nameservers: many }));
    expect([refused.status, JSON.parse(refused.text)]).toEqual([
      422,
      { error: 'expected at most 13 nameservers', field: 'nameservers' },
    ]);
    for (let i = 1; i < 200; i++) registry.change(`n${i}.test`, [], 1);
    const full = await put('late.test', '{"nameservers":[]}');
    expect([full.status, JSON.parse(full.text).field]).toEqual([422, 'name']);
    expect((await put('shop.test', JSON.stringify({ nameservers: NS }))).status).toBe(200);
  });
});

describe('the JSON', () => {
  it('changes a name, returns when, and stores it in the file', async () => {
    const { status, text } = await put(
      'SHOP.test',
      JSON.stringify({ nameservers: ['NS2.Zonefleet.Example.', NS[0]] }),
    );
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({ nameservers: NS, changed_at: expect.stringMatching(/Z$/) });
    expect(JSON.parse((await send('GET', '/names')).text)).toEqual({ 'shop.test': JSON.parse(text) });
    expect(new Registry(file, new Map()).list()).toEqual(registry.list());
  });

  it.each([
    ['{', 400, undefined],
    ['null', 400, 'nameservers'],
    ['{"nameservers":"ns1.provider.example"}', 400, 'nameservers'],
    ['{"nameservers":[1]}', 400, 'nameservers'],
    ['{"nameservers":["one"]}', 422, 'nameservers'],
    ['{"nameservers":["a..example"]}', 422, 'nameservers'],
    ['{"nameservers":["ns1.shop.test"]}', 422, 'nameservers'],
    ['{"nameservers":["shop.test"]}', 422, 'nameservers'],
  ])('describes the error of %s', async (body, status, field) => {
    const replied = await put('shop.test', body);
    expect([replied.status, JSON.parse(replied.text).field]).toEqual([status, field]);
    expect(nameservers()).toEqual([]);
  });

  it.each(
    'test shop.example a.shop.test %00.test nic.test % __proto__ -a.test'.split(' '),
  )('registers only valid names below .test, not %s', async (name) => {
    const { status, text } = await put(name, '{"nameservers":[]}');
    expect([status, JSON.parse(text).field]).toEqual([422, 'name']);
    expect(registry.list()).toHaveLength(1);
  });

  it('has no other calls', async () => {
    expect((await send('DELETE', '/names/shop.test')).status).toBe(405);
    expect((await send('GET', '/registry.json')).status).toBe(404);
  });
});

it('a file that cannot be written changes nothing, and a damaged one is reported and not overwritten', () => {
  const lost = new Registry(join(directory, 'gone', 'registry.json'), new Map([['shop.test', []]]));
  expect(() => lost.change('shop.test', NS, 1)).toThrow(/ENOENT/);
  expect(lost.registrations().get('shop.test')).toEqual([]);
  registry.change('shop.test', NS, 1);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ 'shop.test': { nameservers: NS, changedAt: 1 } });
  expect(() => new Registry(directory, new Map())).toThrow(/EISDIR/);
});
