// Workers call webhooks with their own rights, at a receiver on loopback.

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { networksOf } from '../../../src/dns/record/network.ts';
import { createWebhookCaller, type WebhookOutcome } from '../../../src/features/webhooks/job.ts';
import { createWebhook, orderEvent } from '../../../src/features/webhooks/sql.ts';
import {
  claimDueDeliveries,
  HOST_BOUNDS,
  hostTarget,
  listDeliveries,
  takeCall,
} from '../../../src/features/webhooks/sql-deliveries.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { KeyBoxes, useKeyBoxes } from '../../../src/store/secrets/key-boxes.ts';
import { TEST_KEY_SECRETS } from '../../support/api/api.ts';
import { asRole } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { isSigned, type Receiver, startReceiver } from '../../support/webhooks/receiver.ts';

const { db, url, query } = sharedDatabase();
let worker: Database;
let receiver: Receiver;
let domainId: number;
let webhook: { readonly id: number; readonly secret: string };

beforeEach(async () => {
  worker = openDatabase(asRole(url, 'zonefleet_worker'));
  for (const each of [db, worker]) useKeyBoxes(each, new KeyBoxes(TEST_KEY_SECRETS));
  receiver = await startReceiver(['hooks.test']);
  domainId = (await newDomain(db, await newAccount(db, 'ann@jobs.test'), 'told.test.')).id;
  const made = await createWebhook(db, domainId, `https://hooks.test:${receiver.port}/in`);
  if (made.kind !== 'created') throw new Error(made.kind);
  webhook = { id: made.webhook.id, secret: made.secret };
});
afterEach(async () => {
  await receiver.close();
  await worker.destroy();
});

async function work(addresses: readonly string[] = ['127.0.0.1']): Promise<WebhookOutcome[]> {
  const outcomes: WebhookOutcome[] = [];
  const run = createWebhookCaller({
    db: worker,
    allowed: networksOf('127.0.0.0/8'),
    addressesOf: async () => addresses,
    roots: receiver.roots,
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  for (const job of (await claimDueDeliveries(worker, 10)).jobs)
    await run(job, { signal: new AbortController().signal, again: false });
  return outcomes;
}

const tell = () => orderEvent(worker, { domainId, event: 'outage.begun', data: { incident: { id: 3 } } });
const due = () =>
  sql`update webhook_deliveries set due_at = clock_timestamp() where due_at is not null`.execute(worker);

it('sends an event to the receiver once, signed with the secret', async () => {
  await tell();
  expect(await work()).toEqual([{ kind: 'delivered', webhookId: webhook.id }]);
  await due();
  expect(await work()).toEqual([]);
  const [told] = receiver.received;
  expect(receiver.received).toHaveLength(1);
  expect(JSON.parse(told?.body as string)).toEqual({
    id: expect.any(String),
    event: 'outage.begun',
    domain: 'told.test',
    at: expect.any(String),
    data: { incident: { id: 3 } },
  });
  expect([isSigned(told as never, webhook.secret), isSigned(told as never, 'whsec_other')]).toEqual([
    true,
    false,
  ]);
});

it('retries a rejected delivery, with the same event and a new signature', async () => {
  await tell();
  receiver.answer((response) => void response.writeHead(503).end());
  expect(await work()).toEqual([{ kind: 'again', webhookId: webhook.id }]);
  expect(await work()).toEqual([]);
  receiver.answer((response) => void response.writeHead(204).end());
  await due();
  expect(await work()).toEqual([{ kind: 'delivered', webhookId: webhook.id }]);
  const [first, second] = receiver.received;
  expect(first?.body).toBe(second?.body);
  expect((await listDeliveries(db, webhook.id))[0]).toMatchObject({ attempts: 2, status: 204 });
});

it('reports why there was no response, and nothing else about the receiver', async () => {
  await tell();
  expect(await work(['169.254.169.254'])).toEqual([
    { kind: 'again', webhookId: webhook.id, why: 'not_public' },
  ]);
  expect(receiver.connections()).toBe(0);
  expect((await listDeliveries(db, webhook.id))[0]).toMatchObject({
    status: null,
    error: 'not_public',
  });
});

it('postpones a call if the receiver is at its limit, without counting an attempt', async () => {
  await tell();
  for (let n = 0; n < HOST_BOUNDS.atOnce; n++) await takeCall(worker, hostTarget('hooks.test'), HOST_BOUNDS);
  expect(await work()).toEqual([{ kind: 'busy' }]);
  const [delivery] = await listDeliveries(db, webhook.id);
  expect([delivery?.attempts, receiver.connections()]).toEqual([0, 0]);
  expect(delivery?.dueAt?.getTime()).toBeGreaterThan(delivery?.createdAt.getTime() as number);
});

it('records the end of its call, so that the next one is admitted', async () => {
  for (let n = 0; n < HOST_BOUNDS.atOnce + 2; n++) {
    await tell();
    expect(await work()).toMatchObject([{ kind: 'delivered' }]);
  }
});

it('drops the deliveries of a deleted webhook', async () => {
  await tell();
  const { jobs } = await claimDueDeliveries(worker, 10);
  await query`delete from webhooks`;
  const outcomes: WebhookOutcome[] = [];
  const run = createWebhookCaller({
    db: worker,
    allowed: [],
    addressesOf: async () => undefined,
    onOutcome: (outcome) => outcomes.push(outcome),
  });
  for (const job of jobs) await run(job, { signal: new AbortController().signal, again: false });
  expect(outcomes).toEqual([{ kind: 'absent' }]);
});
