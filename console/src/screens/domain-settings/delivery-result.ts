// Describes the result of a webhook's delivery, and whether it may change soon.

import type { Schemas } from '../../api/client.ts';
import { domainSettings } from '../../words/domain-settings.ts';

export type Delivery = Schemas['WebhookDelivery'];

export const TONES = { waiting: 'warn', delivered: 'good', failed: 'bad' } as const;

const text = domainSettings.webhooks;
/** Time ahead of an attempt from which the deliveries are loaded again. */
const SOON_MS = 3000;

/** Explains the last attempt. */
export function resultOf({ status, error }: Pick<Delivery, 'status' | 'error'>): string {
  if (status !== undefined)
    return status >= 300 && status < 400 ? text.redirected(status) : text.status(status);
  return error === undefined ? text.untried : text.errors[error];
}

/** True if an attempt is due or was never made, so the state is worth loading again. */
export function isDue(
  { state, attempts, next_at: next }: Pick<Delivery, 'state' | 'attempts' | 'next_at'>,
  nowMs: number,
): boolean {
  if (state !== 'waiting') return false;
  return attempts === 0 || next === undefined || Date.parse(next) < nowMs + SOON_MS;
}
