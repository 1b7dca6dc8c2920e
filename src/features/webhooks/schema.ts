// Schemas of webhooks and of their deliveries.

import { z } from 'zod';
import { Timestamp } from '../../api/schemas/fields.ts';
import { MOST_URL_CHARACTERS, WEBHOOK_EVENTS } from './rules.ts';

export const NewWebhook = z
  .strictObject({
    url: z
      .string()
      .min(1)
      .max(MOST_URL_CHARACTERS)
      .describe('`https:` on port 443 or above 1023, at a public address.'),
  })
  .meta({ id: 'NewWebhook' });

export const Webhook = z
  .object({
    id: z.int(),
    url: z.string(),
    secret: z
      .string()
      .optional()
      .describe('Secret that signs the calls. Only the response that creates the webhook contains it.'),
    created_at: Timestamp,
    answered_at: Timestamp.optional().describe('When it last answered with a status from 200 to 299.'),
    disabled_at: Timestamp.optional().describe(
      'Present if the webhook is no longer called, because no call succeeded for 24 hours. A successful test enables it again.',
    ),
  })
  .meta({ id: 'Webhook' });

export const WebhookDelivery = z
  .object({
    id: z.int(),
    event: z.enum(WEBHOOK_EVENTS),
    event_id: z
      .string()
      .describe('The `id` in the body, which is the same for all webhooks and for each attempt.'),
    state: z.enum(['waiting', 'delivered', 'failed']),
    attempts: z.int(),
    status: z.int().optional().describe('Status of the last response.'),
    error: z
      .enum(['not_public', 'unresolved', 'unreachable', 'tls', 'timeout', 'bad_answer'])
      .optional()
      .describe('Why the last attempt got no response.'),
    created_at: Timestamp,
    tried_at: Timestamp.optional(),
    next_at: Timestamp.optional().describe('Earliest time of the next attempt.'),
  })
  .meta({ id: 'WebhookDelivery' });
