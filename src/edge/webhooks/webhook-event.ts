// What webhooks are told: the events, the body of a call, and how it is signed.

import { createHmac } from 'node:crypto';

export const WEBHOOK_EVENTS = ['test', 'outage.begun', 'outage.ended'] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

interface Told {
  /** Of the event: the same for all webhooks of a domain, and for each try. */
  readonly id: string;
  readonly event: WebhookEvent;
  /** Without the final dot. */
  readonly domain: string;
  readonly at: Date;
  readonly data: object;
}

export function webhookBody({ id, event, domain, at, data }: Told): string {
  return JSON.stringify({ id, event, domain, at: at.toISOString(), data });
}

/** Time and body are signed together, so that a call that somebody caught is of no use later. */
export function signWebhook(secret: string, body: string, at: Date): string {
  const seconds = Math.floor(at.getTime() / 1000);
  const mac = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${mac}`;
}
