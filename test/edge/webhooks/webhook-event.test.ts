import { createHmac } from 'node:crypto';
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
