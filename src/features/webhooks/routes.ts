// Routes of webhooks (docs/api.md "Webhooks").

import { z } from 'zod';
import { invalid, Problem, unavailable } from '../../api/answers/problem.ts';
import { domain, route } from '../../api/calls/route.ts';
import { idText, Message } from '../../api/schemas/fields.ts';
import { readWebhookUrl } from './rules.ts';
import { NewWebhook, Webhook, WebhookDelivery } from './schema.ts';
import { ALLOWED_NETWORKS } from './services.ts';
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  loadWebhook,
  MOST_WEBHOOKS,
  orderTest,
  type StoredWebhook,
} from './sql.ts';
import { listDeliveries, type StoredDelivery } from './sql-deliveries.ts';

const tag = 'Webhooks';
const path = '/domains/{domain}/webhooks';
const RETRY_SECONDS = 60;
/** URLs may contain secrets, which API keys limited to some records must not read. */
const readWhole = domain('domain.settings', { whileDisabled: true, wholeKeys: true });

const list = route(readWhole, {
  method: 'GET',
  path,
  operationId: 'listWebhooks',
  tag,
  summary: 'The webhooks of a domain, oldest first, without their secrets.',
  response: z.array(Webhook),
  run: async ({ api, domain }) => (await listWebhooks(api.db, domain.id)).map(print),
});

const create = route(domain('domain.settings'), {
  method: 'POST',
  path,
  operationId: 'createWebhook',
  audit: 'webhook.create',
  tag,
  summary: 'Creates a webhook: events of the domain are posted to its URL.',
  description:
    'The webhook is called when an outage begins and ends. Only this response contains the secret; a repeat with an Idempotency-Key returns the response without it. A domain has at most 5 webhooks.',
  body: NewWebhook,
  response: Webhook,
  withoutSecrets: ({ secret: _, ...rest }) => rest,
  conflicts: true,
  async run({ api, domain, body, audit }) {
    const url = readWebhookUrl(body.url, api.services.get(ALLOWED_NETWORKS) ?? []);
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

const one = { params: z.object({ id: idText }), finds: 'webhook' } as const;

const remove = route(domain('domain.settings'), {
  ...one,
  method: 'DELETE',
  path: `${path}/{id}`,
  operationId: 'deleteWebhook',
  audit: 'webhook.delete',
  tag,
  summary: 'Deletes a webhook and its pending deliveries.',
  find: ({ api, domain, params: { id } }) => loadWebhook(api.db, domain.id, id),
  response: Message,
  async run({ api, domain, found, audit }) {
    await deleteWebhook(api.db, domain.id, found.id);
    audit({ before: noteOf(found) });
    return { message: 'webhook deleted' };
  },
});

const test = route(domain('domain.settings'), {
  ...one,
  method: 'POST',
  path: `${path}/{id}/test`,
  operationId: 'testWebhook',
  audit: 'webhook.test',
  tag,
  summary: 'Sends an event `test` to a webhook.',
  description:
    'The event is sent once, without retries; the result is in the deliveries. If a disabled webhook accepts a test, it is enabled again. At most 5 tests per minute, and 50 per day.',
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

const deliveries = route(readWhole, {
  ...one,
  method: 'GET',
  path: `${path}/{id}/deliveries`,
  operationId: 'listWebhookDeliveries',
  tag,
  summary: 'Deliveries of a webhook, newest first.',
  description: 'At most 100 deliveries of the last 7 days.',
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
