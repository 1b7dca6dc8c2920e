import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { signWebhook, webhookBody } from '../../../src/edge/webhooks/webhook-event.ts';

it('a call is signed over its time and its body', () => {
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

it('the lines of docs/api.md tell a call of ours from any other', () => {
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
