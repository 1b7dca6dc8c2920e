// Webhooks of a domain: make one, read them and what they were told, test one, delete one.

import { z } from 'zod';
import { readWebhookUrl } from '../../../edge/webhooks/webhook-url.ts';
import { listDeliveries, type StoredDelivery } from '../../../store/webhooks/deliveries.ts';
import { orderTest } from '../../../store/webhooks/order-event.ts';
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  loadWebhook,
  MOST_WEBHOOKS,
  type StoredWebhook,
} from '../../../store/webhooks/webhooks.ts';
import { invalid, Problem, unavailable } from '../../answers/problem.ts';
import { domainRoute } from '../../calls/route.ts';
import { idText } from '../../schemas/ids.ts';
import { Message } from '../../schemas/message.ts';
import { NewWebhook, Webhook, WebhookDelivery } from '../../schemas/webhooks/webhook.ts';

const tag = 'Webhooks';
const path = '/domains/{domain}/webhooks';
const RETRY_SECONDS = 60;
/** URLs may have secrets, which keys for some records must not read. */
const WHOLE_READ = { wholeKeys: true, whileDisabled: true } as const;

const list = domainRoute({
  method: 'GET',
  path,
  operationId: 'listWebhooks',
  tag,
  summary: 'The webhooks of a domain, the oldest first, without their secrets.',
  permission: 'domain.settings',
  ...WHOLE_READ,
  response: z.array(Webhook),
  run: async ({ api, domain }) => (await listWebhooks(api.db, domain.id)).map(print),
});

const create = domainRoute({
  method: 'POST',
  path,
  operationId: 'createWebhook',
  audit: 'webhook.create',
  tag,
  summary: 'Has a URL called when something happens with the domain.',
  description:
    'It is told when an outage begins and ends. The secret is shown in this answer only; with an Idempotency-Key a repeat gets the answer without it. A domain has at most 5.',
  permission: 'domain.settings',
  body: NewWebhook,
  response: Webhook,
  withoutSecrets: ({ secret: _, ...rest }) => rest,
  conflicts: true,
  async run({ api, domain, body, audit }) {
    const url = readWebhookUrl(body.url, api.webhookAllow ?? []);
    if ('problem' in url) return invalid([{ field: 'url', error: url.problem }]);
    const made = await createWebhook(api.db, domain.id, url.href);
    if (made.kind === 'full')
      return new Problem(409, `a domain may have ${MOST_WEBHOOKS} webhooks; delete one first`);
    if (made.kind === 'unavailable')
      return unavailable('KEY_SECRETS is not set, so secrets cannot be stored', RETRY_SECONDS);
    audit({ after: { webhook: made.webhook.id, host: url.host } });
    return { ...print(made.webhook), secret: made.secret };
  },
});

const one = {
  permission: 'domain.settings',
  params: z.object({ id: idText }),
  finds: 'webhook',
} as const;

const remove = domainRoute({
  ...one,
  method: 'DELETE',
  path: `${path}/{id}`,
  operationId: 'deleteWebhook',
  audit: 'webhook.delete',
  tag,
  summary: 'Deletes a webhook; what it was still to be told is dropped.',
  find: ({ api, domain, params: { id } }) => loadWebhook(api.db, domain.id, id),
  response: Message,
  async run({ api, domain, found, audit }) {
    await deleteWebhook(api.db, domain.id, found.id);
    audit({ before: noteOf(found) });
    return { message: 'webhook deleted' };
  },
});

const test = domainRoute({
  ...one,
  method: 'POST',
  path: `${path}/{id}/test`,
  operationId: 'testWebhook',
  audit: 'webhook.test',
  tag,
  summary: 'Tells a webhook of an event `test`.',
  description:
    'Once, whatever it answers: see its deliveries. A webhook that was disabled, and answers a test as it should, is enabled again. At most 5 tests a minute, and 50 a day.',
  find: ({ api, domain, params: { id } }) => loadWebhook(api.db, domain.id, id),
  response: z.object({ message: z.string(), delivery: z.int() }).meta({ id: 'WebhookTest' }),
  async run({ api, domain, found, audit }) {
    const ordered = await orderTest(api.db, domain.id, found.id);
    if ('retrySeconds' in ordered)
      return new Problem(429, 'rate limit exceeded', {
        headers: { 'Retry-After': String(ordered.retrySeconds) },
      });
    audit({ after: noteOf(found) });
    return { message: 'the test event is queued', delivery: ordered.deliveryId };
  },
});

const deliveries = domainRoute({
  ...one,
  method: 'GET',
  path: `${path}/{id}/deliveries`,
  operationId: 'listWebhookDeliveries',
  tag,
  summary: 'What a webhook was told and is to be told, the newest first.',
  description: 'At most 100, of the last 7 days.',
  ...WHOLE_READ,
  find: ({ api, domain, params: { id } }) => loadWebhook(api.db, domain.id, id),
  response: z.array(WebhookDelivery),
  run: async ({ api, found }) => (await listDeliveries(api.db, found.id)).map(printDelivery),
});

export const WEBHOOK_ROUTES = [list, create, remove, test, deliveries];

function noteOf({ id, url }: StoredWebhook) {
  return { webhook: id, host: new URL(url).hostname }; // the path may be a secret
}

function print({ id, url, createdAt, answeredAt, disabledAt }: StoredWebhook): z.input<typeof Webhook> {
  return {
    id,
    url,
    created_at: createdAt.toISOString(),
    ...(answeredAt !== null && { answered_at: answeredAt.toISOString() }),
    ...(disabledAt !== null && { disabled_at: disabledAt.toISOString() }),
  };
}

function printDelivery(delivery: StoredDelivery): z.input<typeof WebhookDelivery> {
  const { id, event, eventId, createdAt, dueAt, attempts, triedAt, status, error, delivered } = delivery;
  return {
    id,
    event,
    event_id: eventId,
    state: dueAt !== null ? 'waiting' : delivered ? 'delivered' : 'failed',
    attempts,
    ...(status !== null && { status }),
    ...(error !== null && { error: error as NonNullable<z.input<typeof WebhookDelivery>['error']> }),
    created_at: createdAt.toISOString(),
    ...(triedAt !== null && { tried_at: triedAt.toISOString() }),
    ...(dueAt !== null && { next_at: dueAt.toISOString() }),
  };
}
