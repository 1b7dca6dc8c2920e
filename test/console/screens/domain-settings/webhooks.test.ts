import { createHmac, timingSafeEqual } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isDue, resultOf, TONES } from '../../../../console/src/screens/domain-settings/delivery-result.ts';
import { VERIFY_EXAMPLE } from '../../../../console/src/screens/domain-settings/verify-example.ts';
import { domainSettings } from '../../../../console/src/words/domain-settings.ts';
import { signWebhook, WEBHOOK_EVENTS } from '../../../../src/features/webhooks/rules.ts';
import { WebhookDelivery } from '../../../../src/features/webhooks/schema.ts';

const text = domainSettings.webhooks;
const { error, state } = WebhookDelivery.shape;
const NOW = Date.parse('2026-12-01T12:00:00Z');
const at = (seconds: number) => new Date(NOW + seconds * 1000).toISOString();

it('every event, state and error of the API has a text', () => {
  expect(Object.keys(text.events).sort()).toEqual([...WEBHOOK_EVENTS].sort());
  expect(Object.keys(text.states).sort()).toEqual([...state.options].sort());
  expect(Object.keys(TONES).sort()).toEqual([...state.options].sort());
  expect(Object.keys(text.errors).sort()).toEqual([...error.unwrap().options].sort());
});

it('resultOf explains the last attempt', () => {
  expect(resultOf({ status: 204 })).toBe('Status 204.');
  expect(resultOf({ status: 302 })).toBe('Status 302. Redirects are not followed.');
  expect(resultOf({ error: 'timeout' })).toBe('No response within 5 seconds.');
  expect(resultOf({})).toBe('Not sent yet.');
});

describe('isDue', () => {
  it('is true before the first attempt, and when the next one is due', () => {
    expect(isDue({ state: 'waiting', attempts: 0, next_at: at(60) }, NOW)).toBe(true);
    expect(isDue({ state: 'waiting', attempts: 1, next_at: at(2) }, NOW)).toBe(true);
    expect(isDue({ state: 'waiting', attempts: 1 }, NOW)).toBe(true);
  });

  it('is false if the next attempt is later, or there is none', () => {
    expect(isDue({ state: 'waiting', attempts: 1, next_at: at(30) }, NOW)).toBe(false);
    expect(isDue({ state: 'delivered', attempts: 1 }, NOW)).toBe(false);
    expect(isDue({ state: 'failed', attempts: 0 }, NOW)).toBe(false);
  });
});

describe('the example for receivers', () => {
  const verify = new Function(
    'createHmac, timingSafeEqual, request, body, secret',
    `${VERIFY_EXAMPLE}; return isValid;`,
  );
  const accepts = (header: string | undefined, body = 'message', secret = 'whsec_own') =>
    verify(createHmac, timingSafeEqual, { headers: { 'zonefleet-signature': header } }, body, secret);
  const header = signWebhook('whsec_own', 'message', new Date());

  it('accepts a signed message', () => expect(accepts(header)).toBe(true));

  it('rejects another body, another secret, an old message and a missing header', () => {
    expect(accepts(header, 'other')).toBe(false);
    expect(accepts(header, 'message', 'whsec_other')).toBe(false);
    expect(accepts(signWebhook('whsec_own', 'message', new Date(Date.now() - 600_000)))).toBe(false);
    expect(accepts(undefined)).toBe(false);
  });
});
