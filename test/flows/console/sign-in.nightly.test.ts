import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownConsole } from '../../support/browser/console-api.ts';
import { newDomain } from '../../support/database/domains.ts';

/**
 * A stream is authorized again every 20 s, in turn with others, and the browser reconnects some seconds after its
 * end.
 */
const JUDGED_WITHIN_MS = 60_000;
const isStream = (url: string) => new URL(url).pathname === '/domains/ann.example/events';

const own = ownConsole();
let annId: number;

beforeAll(async () => {
  annId = await own.makePerson('ann@shop.example');
  await own.makePerson('eve@evil.example');
  await newDomain(own.database.db, annId, 'ann.example.');
});

describe('a session', () => {
  it('ends its stream when it is ended elsewhere, and the page leads to the sign-in automatically', async () => {
    const { page } = await own.openAs('ann@shop.example', { mayFail: true });
    const streaming = page.waitForResponse((answer) => isStream(answer.url()) && answer.status() === 200);
    await page.goto('/console/domains/ann.example');
    await streaming;
    await sql`delete from sessions where account_id = ${annId}`.execute(own.database.db);
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor({ timeout: JUDGED_WITHIN_MS });
  });

  it('reconnects a rejected stream, and shows later events', async () => {
    const { page, context } = await own.openAs('ann@shop.example', { mayFail: true });
    await page.route(
      (url) => isStream(url.href),
      (route) => route.fulfill({ status: 503, body: '' }),
      { times: 2 },
    );
    const streaming = page.waitForResponse((answer) => isStream(answer.url()) && answer.status() === 200);
    await page.goto('/console/domains/ann.example/records');
    await streaming;
    const record = { name: 'news', type: 'A', destination: '192.0.2.1' };
    const added = await context.request.post('/domains/ann.example/records/', {
      data: record,
      headers: { origin: own.api.url },
    });
    expect(added.ok()).toBe(true);
    await page.getByText('news', { exact: false }).first().waitFor();
  });
});

describe('a page of another site, in a browser that is signed in', () => {
  let evil: Server;
  let evilUrl: string;

  beforeAll(async () => {
    evil = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<!doctype html><title>evil</title><body></body>');
    });
    await new Promise<void>((done) => evil.listen(0, '127.0.0.1', done));
    // Another port is another origin but the same site, so SameSite cookies are sent.
    evilUrl = `http://127.0.0.1:${(evil.address() as AddressInfo).port}`;
  });

  afterAll(() => evil.close());

  it('cannot read a response, and its writes are rejected', async () => {
    const { page, context } = await own.openAs('ann@shop.example');
    await page.goto(evilUrl);
    const read = await page.evaluate(
      `fetch('${own.api.url}/users/me', { credentials: 'include' }).then((a) => a.text(), () => 'refused')`,
    );
    expect(read).toBe('refused');
    await page.evaluate(
      `fetch('${own.api.url}/users/me/sessions', { method: 'DELETE', credentials: 'include', mode: 'cors' }).catch(() => {})`,
    );
    await page.evaluate(`new Promise((done) => {
      const form = document.createElement('form');
      Object.assign(form, { action: '${own.api.url}/auth/logout', method: 'POST', target: 'out' });
      const frame = document.createElement('iframe');
      Object.assign(frame, { name: 'out', onload: done });
      document.body.append(frame, form);
      form.submit();
    })`);
    const still = await context.request.get('/users/me');
    expect(still.status()).toBe(200);
  });

  it('that opened the console cannot control its window', async () => {
    const { page, context } = await own.openAs('ann@shop.example');
    await page.goto(evilUrl);
    const [opened] = await Promise.all([
      context.waitForEvent('page'),
      page.evaluate(`globalThis.hold = window.open('${own.api.url}/console/'), undefined`),
    ]);
    await opened.getByRole('heading', { name: 'Domains', exact: true }).waitFor();
    expect(await opened.evaluate('window.opener')).toBeNull();
    expect(await page.evaluate('hold.closed')).toBe(true);
  });
});
