// URLs of webhooks, signatures of events, and retries.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { networksOf } from '../../../src/dns/record/network.ts';
import {
  judgeAddress,
  readWebhookUrl,
  retrySeconds,
  signWebhook,
  webhookBody,
} from '../../../src/features/webhooks/rules.ts';

it('a call is retried at increasing intervals, for 24 hours', () => {
  const waits: number[] = [];
  let age = 0;
  for (let attempts = 1; ; attempts++) {
    const seconds = retrySeconds({ attempts, ageSeconds: age });
    if (seconds === undefined) break;
    waits.push(seconds);
    age += seconds;
  }
  expect(waits.slice(0, 9)).toEqual([30, 60, 120, 240, 480, 960, 1920, 3840, 7200]);
  expect(age).toBeLessThanOrEqual(86_400);
  expect(age).toBeGreaterThan(86_400 - 7200);
});

it('the signature of a call includes its time and body', () => {
  const at = new Date('2026-01-02T03:04:05.678Z');
  const body = webhookBody({ id: 'one', event: 'test', domain: 'shop.test', at, data: { a: 1 } });
  expect(JSON.parse(body)).toEqual({
    id: 'one',
    event: 'test',
    domain: 'shop.test',
    at: at.toISOString(),
    data: { a: 1 },
  });
  const mac = createHmac('sha256', 'whsec_x').update(`1767323045.${body}`).digest('hex');
  expect(signWebhook('whsec_x', body, at)).toBe(`t=1767323045,v1=${mac}`);
  expect(signWebhook('whsec_x', body, new Date(at.getTime() + 1000))).not.toContain(mac);
});

it('the code in docs/api.md distinguishes genuine calls from others', () => {
  const page = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');
  const [lines = ''] = /^const \[, t, mac\][\s\S]*?(?=^```)/m.exec(page) ?? [];
  const judge = new Function(
    'createHmac',
    'timingSafeEqual',
    'secret',
    'body',
    'request',
    `${lines}; return isOurs;`,
  );
  const body = '{"domain":"bücher.test"}';
  const isOurs = (signature: string | undefined, sent: string | Buffer = body, secret = 'whsec_x') =>
    judge(createHmac, timingSafeEqual, secret, sent, { headers: { 'zonefleet-signature': signature } });
  const now = new Date();
  const signature = signWebhook('whsec_x', body, now);
  expect([isOurs(signature), isOurs(signature, Buffer.from(body))]).toEqual([true, true]);
  expect(isOurs(signWebhook('whsec_x', body, new Date(now.getTime() - 3_600_000)))).toBe(false);
  const other = isOurs(signature, `${body} `) || isOurs(signature, body, 'whsec_y');
  expect([other, isOurs(undefined), isOurs('t=1,v1=00')]).toEqual([false, false, false]);
});

describe('the URL of a webhook', () => {
  it('must be https, on 443 or above 1023, and is stored in canonical form', () => {
    expect(readWebhookUrl('https://Hooks.Shop.Test./a b?x=1', [])).toEqual({
      href: 'https://hooks.shop.test./a%20b?x=1',
      host: 'hooks.shop.test',
      port: 443,
      path: '/a%20b?x=1',
    });
    expect(readWebhookUrl('https://hooks.test:8443', [])).toMatchObject({ port: 8443, path: '/' });
    expect(readWebhookUrl('https://[2606:4700::1]:1024/', [])).toMatchObject({ host: '2606:4700::1' });
    expect(readWebhookUrl('https://bücher.test/', [])).toMatchObject({ host: 'xn--bcher-kva.test' });
  });

  it.each([
    ['hooks.test', /not a URL/],
    ['http://hooks.test/', /https/],
    ['ftp://hooks.test/', /https/],
    ['https://hooks.test:25/', /443 or above 1023/],
    ['https://hooks.test:1023/', /443 or above 1023/],
    ['https://hooks.test:0/', /443 or above 1023/],
    ['https://user@hooks.test/', /user name/],
    ['https://:secret@hooks.test/', /user name/],
    ['https://hooks.test/#there', /fragment/],
    [`https://hooks.test/${'x'.repeat(2000)}`, /2000/],
    [`https://${'a.'.repeat(130)}test/`, /host/],
    ['https://localhost/', /not public/],
    ['https://api.localhost./', /not public/],
    ['https://127.0.0.1/', /not public/],
    ['https://127.1/', /not public/],
    ['https://2130706433/', /not public/],
    ['https://0x7f.0.0.1/', /not public/],
    ['https://0/', /not public/],
    ['https://10.0.0.1/', /not public/],
    ['https://169.254.169.254/latest/meta-data/', /not public/],
    ['https://192.168.1.1/', /not public/],
    ['https://100.64.0.1/', /not public/],
    ['https://[::1]/', /not public/],
    ['https://[::]/', /not public/],
    ['https://[::ffff:10.0.0.1]/', /not public/],
    ['https://[::ffff:a9fe:a9fe]/', /not public/],
    ['https://[64:ff9b::10.0.0.1]/', /not public/],
    ['https://[2002:7f00:1::]/', /not public/],
    ['https://[fd00::1]/', /not public/],
    ['https://[fe80::1]/', /not public/],
  ])('rejects %s', (url, problem) => {
    expect(readWebhookUrl(url, [])).toEqual({ problem: expect.stringMatching(problem) });
  });

  it('may lead to networks that are allowed', () => {
    const allowed = networksOf('127.0.0.0/8');
    expect(readWebhookUrl('https://127.0.0.1:9000/', allowed)).toMatchObject({ host: '127.0.0.1' });
    expect(judgeAddress('10.0.0.1', allowed)).toBe('this address is not public');
  });
});
