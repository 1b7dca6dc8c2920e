// Turns and limits of calls, and what happens to receivers that never respond.

import { beforeEach, describe, expect, it } from 'vitest';
import { createWebhook, listWebhooks, orderEvent, orderTest } from '../../../src/features/webhooks/sql.ts';
import {
  addressTarget,
  claimDueDeliveries,
  endCalls,
  HOST_BOUNDS,
  hostTarget,
  listDeliveries,
  saveTry,
  takeCall,
} from '../../../src/features/webhooks/sql-deliveries.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { KeyBoxes, useKeyBoxes } from '../../../src/store/secrets/key-boxes.ts';
import { TEST_KEY_SECRETS } from '../../support/api/api.ts';
import { asRole } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const { db, url, query, value, column } = sharedDatabase();
beforeEach(async () => {
  useKeyBoxes(db, new KeyBoxes(TEST_KEY_SECRETS));
});

let made = 0;
async function hooked(accountId: number): Promise<{ domainId: number; webhookId: number }> {
  const { id: domainId } = await newDomain(db, accountId, `hooked${made++}.test.`);
  const webhook = await createWebhook(db, domainId, 'https://hooks.test/');
  if (webhook.kind !== 'created') throw new Error(webhook.kind);
  return { domainId, webhookId: webhook.webhook.id };
}

const tell = (domainId: number) => orderEvent(db, { domainId, event: 'outage.begun', data: {} });

async function accountsOf(jobs: readonly { readonly deliveryId: number }[]): Promise<number[]> {
  return await column<number>`
    select account_id as account from webhook_deliveries where id = any(${jobs.map(({ deliveryId }) => deliveryId)}::bigint[])
    order by account_id`;
}

it('of fifty concurrent tests of a domain, five are ordered', async () => {
  const { domainId, webhookId } = await hooked(await newAccount(db, 'eve@webhooks.test'));
  const ordered = await Promise.all(Array.from({ length: 50 }, () => orderTest(db, domainId, webhookId)));
  expect(ordered.filter((each) => 'deliveryId' in each)).toHaveLength(5);
  expect(await listDeliveries(db, webhookId)).toHaveLength(5);
});

describe('a claim', () => {
  it('takes turns by account, so that many calls of one do not delay others, over all workers', async () => {
    const busy = await newAccount(db, 'busy@webhooks.test');
    const quiet = await newAccount(db, 'quiet@webhooks.test');
    for (let n = 0; n < 3; n++) {
      const { domainId } = await hooked(busy);
      for (let i = 0; i < 10; i++) await tell(domainId);
    }
    const { domainId } = await hooked(quiet);
    await tell(domainId);
    const first = await claimDueDeliveries(db, 3);
    expect(await accountsOf(first.jobs)).toEqual([busy, busy, quiet]);
    const [one, two] = await Promise.all([claimDueDeliveries(db, 50), claimDueDeliveries(db, 50)]);
    expect(first.jobs.length - 1 + one.jobs.length + two.jobs.length).toBe(8);
    await tell((await hooked(quiet)).domainId);
    expect(await accountsOf((await claimDueDeliveries(db, 50)).jobs)).toEqual([quiet]);
  });

  it('continues after the last account, and reclaims the call of a lost worker', async () => {
    const account = await newAccount(db, 'ann@webhooks.test');
    const { domainId } = await hooked(account);
    await tell(domainId);
    const { jobs } = await claimDueDeliveries(db, 50);
    expect(jobs).toHaveLength(1);
    expect((await claimDueDeliveries(db, 50)).jobs).toEqual([]);
    expect((await claimDueDeliveries(db, 50, account)).jobs).toEqual([]);
    await query`update webhook_deliveries set due_at = due_at - interval '61 seconds', claimed_until = claimed_until - interval '61 seconds'`;
    expect((await claimDueDeliveries(db, 50, account)).jobs).toEqual([]);
    expect((await claimDueDeliveries(db, 50)).jobs).toEqual(jobs);
  });
});

describe('a receiver', () => {
  it('has limits for concurrent calls and calls per minute, over all workers', async () => {
    const workers = [1, 2].map(() => openDatabase(asRole(url, 'zonefleet_worker')));
    const target = hostTarget('victim.test');
    const ask = () =>
      workers.flatMap((db) => Array.from({ length: 15 }, () => takeCall(db, target, HOST_BOUNDS)));
    const taken = (await Promise.all(ask())).filter((id) => id !== undefined);
    expect(taken).toHaveLength(HOST_BOUNDS.atOnce);
    expect(await takeCall(db, hostTarget('other.test'), HOST_BOUNDS)).toBeDefined();
    let calls = taken.length;
    for (let ids = taken; ids.length > 0; calls += ids.length) {
      await endCalls(workers[0] as never, ids);
      ids = (await Promise.all(ask())).filter((id) => id !== undefined);
    }
    expect(calls).toBe(HOST_BOUNDS.aMinute);
    await query`update webhook_calls set begun_at = begun_at - interval '61 seconds'`;
    expect(await takeCall(db, target, HOST_BOUNDS)).toBeDefined();
    await Promise.all(workers.map((db) => db.destroy()));
  });

  it('is the same for all names of an address; IPv6 addresses are grouped by network', () => {
    expect(addressTarget('192.0.2.1')).not.toBe(addressTarget('192.0.2.2'));
    expect(addressTarget('2001:db8:1:2::1')).toBe(addressTarget('2001:db8:1:2:ffff::9'));
    expect(addressTarget('2001:db8:1:2::1')).not.toBe(addressTarget('2001:db8:1:3::1'));
  });

  it('that fails for 24 hours is disabled, until a test succeeds', async () => {
    const { domainId, webhookId } = await hooked(await newAccount(db, 'ann@webhooks.test'));
    await tell(domainId);
    await tell(domainId);
    const ids = (await listDeliveries(db, webhookId)).map(({ id }) => id).reverse() as [number, number];
    expect(await saveTry(db, ids[0], { error: 'timeout' })).toBe('again');
    await query`update webhook_deliveries set created_at = created_at - interval '24 hours' where id = ${ids[0]}`;
    expect(await saveTry(db, ids[0], { status: 500 })).toBe('disabled');
    expect((await listDeliveries(db, webhookId)).map(({ dueAt }) => dueAt)).toEqual([null, null]);
    expect((await listWebhooks(db, domainId))[0]?.disabledAt).toBeInstanceOf(Date);
    expect(await tell(domainId)).toBe(0);
    const test = { domainId, event: 'test', data: {}, webhookId } as const;
    expect(await orderEvent(db, test)).toBe(1);
    const [tested] = await listDeliveries(db, webhookId);
    expect(await saveTry(db, tested?.id as number, { status: 200 })).toBe('delivered');
    expect((await listWebhooks(db, domainId))[0]?.disabledAt).toBeNull();
    expect(await tell(domainId)).toBe(1);
  });

  it('that responded in the meantime remains enabled', async () => {
    const { domainId, webhookId } = await hooked(await newAccount(db, 'ann@webhooks.test'));
    await tell(domainId);
    const [old] = await listDeliveries(db, webhookId);
    await query`update webhook_deliveries set created_at = created_at - interval '24 hours'`;
    await tell(domainId);
    const [young] = await listDeliveries(db, webhookId);
    await saveTry(db, young?.id as number, { status: 200 });
    expect(await saveTry(db, old?.id as number, { status: 404 })).toBe('given_up');
    expect((await listWebhooks(db, domainId))[0]?.disabledAt).toBeNull();
  });

  it('has at most a hundred pending calls', async () => {
    const { domainId, webhookId } = await hooked(await newAccount(db, 'ann@webhooks.test'));
    for (let n = 0; n < 105; n++) await tell(domainId);
    expect(
      await value<number>`
      select count(*)::integer as count from webhook_deliveries where webhook_id = ${webhookId}`,
    ).toBe(100);
  });
});
