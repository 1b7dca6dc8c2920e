import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serveConsole } from '../../../src/api/console/serve-console.ts';

const SCRIPT = `console.log('${'x'.repeat(5000)}')`;

let folder: string;
let app: FastifyInstance;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'zonefleet-console-'));
});

afterEach(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

function serve(): void {
  app = Fastify();
  serveConsole(app, join(folder, 'built'));
}

function build(): void {
  mkdirSync(join(folder, 'built/assets'), { recursive: true });
  writeFileSync(join(folder, 'built/index.html'), '<!doctype html><title>built</title>');
  writeFileSync(join(folder, 'built/assets/index-abc.js'), SCRIPT);
  writeFileSync(join(folder, 'built/secret.key'), 'not a file of the console');
  writeFileSync(join(folder, 'outside.html'), 'what lies outside');
}

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });

describe('the console', () => {
  it('serves its page at each of its paths, including those with domain names', async () => {
    build();
    serve();
    for (const path of ['', 'domains', 'domains/a.example/records', 'operator/fleet']) {
      const answer = await get(`/console/${path}`);
      expect([path, answer.statusCode, answer.body]).toEqual([path, 200, expect.stringContaining('built')]);
      expect(answer.headers['cache-control']).toBe('no-cache');
    }
    const bare = await get('/console');
    expect([bare.statusCode, bare.headers.location]).toEqual([308, '/console/']);
  });

  it('lets clients cache its files permanently, and compresses them', async () => {
    build();
    serve();
    const answer = await get('/console/assets/index-abc.js', { 'accept-encoding': 'br, gzip' });
    expect(answer.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'gzip',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    });
    expect(answer.rawPayload.length).toBeLessThan(500);
    expect(gunzipSync(answer.rawPayload).toString()).toBe(SCRIPT);
    expect((await get('/console/assets/index-abc.js')).body).toBe(SCRIPT);
    const again = await get('/console/assets/index-abc.js', { 'if-none-match': String(answer.headers.etag) });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });

  it('runs only its own files, cannot be framed, and has no opener', async () => {
    build();
    serve();
    const { headers } = await get('/console/');
    expect(headers['content-security-policy']).toBe(
      "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
  });

  it('serves no other files of the disk', async () => {
    build();
    serve();
    for (const path of ['assets/none.js', 'assets/../../outside.html', 'assets/%2e%2e/%2e%2e/outside.html'])
      expect((await get(`/console/${path}`)).body).not.toContain('lies outside');
    expect((await get('/console/assets/none.js')).statusCode).toBe(404);
    expect((await get('/console/secret.key')).body).toContain('built');
  });

  it('reports that it is being built, and is available afterwards without a restart', async () => {
    serve();
    const before = await get('/console/domains');
    expect([before.statusCode, before.headers['retry-after'], before.headers.refresh]).toEqual([
      503,
      '3',
      '3',
    ]);
    expect(before.body).toContain('not built yet');
    build();
    await expect.poll(async () => (await get('/console/')).statusCode, { timeout: 30_000 }).toBe(200);
  });

  it('is read and compressed once, while other calls are answered', async () => {
    build();
    const many = Array.from({ length: 20 }, (_, i) => `assets/part-${i}.js`);
    for (const path of many) writeFileSync(join(folder, 'built', path), randomBytes(400_000).toString('hex'));
    serve();
    app.get('/other', async () => 'other');
    await app.ready();
    const answered: string[] = [];
    const ask = async (url: string) => {
      await get(url, { 'accept-encoding': 'gzip' });
      answered.push(url);
    };
    await Promise.all(['/console/', '/console/domains', '/other', '/console/', '/other'].map(ask));
    expect(answered.slice(0, 2)).toEqual(['/other', '/other']);
    rmSync(join(folder, 'built'), { recursive: true });
    expect((await get(`/console/${many[7]}`, { 'accept-encoding': 'gzip' })).headers).toMatchObject({
      'content-encoding': 'gzip',
    });
  });

  it('stops reading a folder that is not a console, regardless of the number of requests', async () => {
    build();
    for (let i = 0; i < 501; i++) writeFileSync(join(folder, `built/assets/${i}.js`), '');
    serve();
    expect((await get('/console/')).statusCode).toBe(500);
    rmSync(join(folder, 'built'), { recursive: true });
    expect((await get('/console/')).statusCode).toBe(500); // reading it again would not find it
  });
});
