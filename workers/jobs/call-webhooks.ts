// One call of a webhook: load, see that the receiver is not called too often, look its name up, post, save what came of it.
//
//   load ─▶ over ─▶ nothing
//     └▶ host called enough ─▶ put off
//         └▶ look up, judge ─▶ address called enough ─▶ put off
//               └▶ post ─▶ delivered, tried again, or given up

import type { Network } from '../../src/dns/record/network.ts';
import { signWebhook } from '../../src/edge/webhooks/webhook-event.ts';
import type { RunJob } from '../../src/jobs/job-worker.ts';
import type { WebhookJob } from '../../src/jobs/jobs.ts';
import { type CallFailure, callWebhook } from '../../src/outbound/webhooks/call-webhook.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { loadDelivery, putOffDelivery, type SavedTry, saveTry } from '../../src/store/webhooks/deliveries.ts';
import {
  ACCOUNT_BOUNDS,
  ADDRESS_BOUNDS,
  accountTarget,
  addressTarget,
  endCalls,
  HOST_BOUNDS,
  hostTarget,
  takeCall,
} from '../../src/store/webhooks/take-call.ts';

export type WebhookOutcome =
  | { readonly kind: 'busy' | 'absent' }
  | { readonly kind: Exclude<SavedTry, 'absent'>; readonly webhookId: number; readonly why?: CallFailure };

interface CallerOptions {
  readonly db: Database;
  readonly allowed: readonly Network[];
  /** As `callWebhook` wants it. */
  readonly addressesOf: (host: string, signal: AbortSignal) => Promise<readonly string[] | undefined>;
  readonly roots?: string;
  readonly onOutcome: (outcome: WebhookOutcome) => void;
}

export function createWebhookCaller(options: CallerOptions): RunJob<WebhookJob> {
  return async (job, { signal }) => options.onOutcome(await call(options, job, signal));
}

async function call(
  { db, allowed, addressesOf, roots }: CallerOptions,
  { deliveryId }: WebhookJob,
  signal: AbortSignal,
): Promise<WebhookOutcome> {
  const work = await loadDelivery(db, deliveryId);
  if (work === undefined) return { kind: 'absent' };
  const { webhookId, accountId, url, body, secret, event, attempts, now } = work;
  const taken: number[] = [];
  const take = async (target: string, bounds: typeof HOST_BOUNDS) => {
    const id = await takeCall(db, target, bounds);
    if (id !== undefined) taken.push(id);
    return id !== undefined;
  };
  try {
    const host = new URL(url).hostname;
    const mayCall =
      (await take(accountTarget(accountId, host), ACCOUNT_BOUNDS)) &&
      (await take(hostTarget(host), HOST_BOUNDS));
    if (!mayCall) {
      await putOffDelivery(db, deliveryId);
      return { kind: 'busy' };
    }
    const headers = {
      'Zonefleet-Event': event,
      'Zonefleet-Delivery': String(deliveryId),
      'Zonefleet-Signature': signWebhook(secret, body, now),
    };
    const admit = (address: string) => take(addressTarget(address), ADDRESS_BOUNDS);
    const result = await callWebhook(
      { url, body, headers, attempt: attempts },
      { allowed, addressesOf, admit, roots },
      signal,
    );
    if (result.kind === 'busy') {
      await putOffDelivery(db, deliveryId);
      return { kind: 'busy' };
    }
    const why = result.kind === 'failed' ? result.why : undefined;
    const tried = result.kind === 'failed' ? { error: result.why } : { status: result.status };
    const kind = await saveTry(db, deliveryId, tried);
    return kind === 'absent' ? { kind } : { kind, webhookId, ...(why !== undefined && { why }) };
  } finally {
    if (taken.length > 0) await endCalls(db, taken);
  }
}
