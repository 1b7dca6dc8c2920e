// Jobs that call webhooks.

import { Counter, type Registry } from 'prom-client';
import { type Name, parseName } from '../../dns/name.ts';
import { type Network, networksOf } from '../../dns/record/network.ts';
import { fillByClaims, type Job, type JobLog } from '../../jobs/job.ts';
import type { RunJob } from '../../jobs/job-worker.ts';
import type { Resolver } from '../../resolver/resolver.ts';
import type { Database } from '../../store/postgres/database.ts';
import { keyBoxesOf } from '../../store/secrets/key-boxes.ts';
import type { WorkTools } from '../feature.ts';
import { type CallFailure, callWebhook } from './client.ts';
import { CALL_WEBHOOK, signWebhook, type WebhookJob } from './rules.ts';
import {
  ACCOUNT_BOUNDS,
  ADDRESS_BOUNDS,
  accountTarget,
  addressTarget,
  claimDueDeliveries,
  endCalls,
  HOST_BOUNDS,
  hostTarget,
  loadDelivery,
  putOffDelivery,
  type SavedTry,
  saveTry,
  takeCall,
} from './sql-deliveries.ts';

export type WebhookOutcome =
  | { readonly kind: 'busy' | 'absent' }
  | { readonly kind: Exclude<SavedTry, 'absent'>; readonly webhookId: number; readonly why?: CallFailure };

interface CallerOptions {
  readonly db: Database;
  readonly allowed: readonly Network[];
  /** Resolves a host name, as in `CallOptions`. */
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

/** A name with more addresses is not called. */
const MOST_ADDRESSES = 16;

export function findReceiver(resolver: Pick<Resolver, 'observeAddresses'>) {
  return async (host: string, signal: AbortSignal): Promise<readonly string[] | undefined> => {
    const name = nameOf(host);
    if (name === undefined) return undefined;
    const { v4, v6 } = await resolver.observeAddresses(name, { signal });
    const found = [v4, v6].flatMap((family) => (family.kind === 'found' ? family.addresses : []));
    return found.length > MOST_ADDRESSES ? undefined : found;
  };
}

function nameOf(host: string): Name | undefined {
  try {
    return parseName(`${host}.`);
  } catch {
    return undefined;
  }
}

/** Each job takes at most five seconds. */
const AT_ONCE = 32;

/** Returns undefined if this process has no secrets, since calls are signed. */
export function openWebhookJob({
  db,
  resolver,
  registry,
  settings,
}: WorkTools): Job<WebhookJob, WebhookOutcome> | undefined {
  if (keyBoxesOf(db) === undefined) return undefined;
  const allowed = networksOf(...settings.webhookAllow);
  let after: number | undefined;
  return {
    kind: CALL_WEBHOOK,
    atOnce: AT_ONCE,
    open: (onOutcome) => createWebhookCaller({ db, allowed, addressesOf: findReceiver(resolver), onOutcome }),
    fill: fillByClaims({
      room: 2 * AT_ONCE,
      async claim(limit) {
        const claimed = await claimDueDeliveries(db, limit, after);
        after = claimed.after;
        return claimed.jobs;
      },
    }),
    count: createWebhookMetrics(registry),
    log: logWebhook,
  };
}

function createWebhookMetrics(registry: Registry): (outcome: WebhookOutcome) => void {
  const calls = new Counter({
    name: 'zonefleet_webhook_calls_total',
    help: 'Webhook calls, by result: delivered, again (will be retried), given_up, disabled (no call succeeded for 24 hours, so the webhook is no longer called), busy (the receiver is at its limit, so the call is postponed), absent (the delivery no longer exists).',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return ({ kind }) => calls.inc({ outcome: kind });
}

/** Does not log the URL, which may contain a secret. */
function logWebhook(log: JobLog, outcome: WebhookOutcome): void {
  if (outcome.kind === 'disabled')
    log.warn({ webhook: outcome.webhookId, why: outcome.why }, 'a webhook was disabled');
}
