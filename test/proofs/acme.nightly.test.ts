// Orders at pebble, which rejects half of the nonces, behind a proxy that stalls, resets, and responds 500 and 429,
// with workers that are killed at random. Every domain gets its certificate, the authority is not told to validate
// before every node has the TXT records, and no record remains.

import { X509Certificate } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Authority } from '../../src/features/certificates/client.ts';
import { createIssuer } from '../../src/features/certificates/job-issue.ts';
import { requestCertificateFor } from '../../src/features/certificates/sql.ts';
import { claimDueOrders } from '../../src/features/certificates/sql-orders.ts';
import { openCertificate } from '../../src/store/certificates/open-certificate.ts';
import { EPOCH_SQL } from '../../src/store/feed/change-feed.ts';
import { inSync } from '../../src/store/feed/in-sync.ts';
import { checkPublished } from '../../src/store/housekeeping/check-published.ts';
import { KeyBoxes, useKeyBoxes } from '../../src/store/secrets/key-boxes.ts';
import { TEST_KEY_SECRETS } from '../support/api/api.ts';
import {
  type DatabaseDns,
  type FaultyProxy,
  type Pebble,
  serveDatabase,
  startFaultyProxy,
  startPebble,
} from '../support/certificates/pebble.ts';
import { createDatabase, type TestDatabase } from '../support/database/database.ts';
import { newAccount, newDomain } from '../support/database/domains.ts';
import { isInstalled } from '../support/peers/peers.ts';
import { scale } from '../support/tests/scale.ts';

const DOMAINS = scale(200, 8);
const ACCOUNTS = 4;
const WORKERS = 6;
const KILLED = 0.1;
const needsPebble = isInstalled('pebble') ? '' : ' (skipped: needs pebble)';

let database: TestDatabase;
let dns: DatabaseDns;
let pebble: Pebble;
let proxy: FaultyProxy;
let isOver = false;
let node: Promise<void>;

beforeAll(async () => {
  if (needsPebble !== '') return;
  database = await createDatabase();
  useKeyBoxes(database.db, new KeyBoxes(TEST_KEY_SECRETS));
  dns = await serveDatabase(database.db);
  pebble = await startPebble(dns.address);
  proxy = await startFaultyProxy(pebble, Math.random);
  node = followSlowly();
});

afterAll(async () => {
  if (needsPebble !== '') return;
  isOver = true;
  await node;
  await proxy.stop();
  await pebble.stop();
  dns.close();
  await database.drop();
});

/** A node that receives changes up to half a second late. */
async function followSlowly(): Promise<void> {
  while (!isOver) {
    await sql`
      insert into nodes (name, instance, started_at, seen_at, loaded, epoch, snapshot, zones, records, held_zones, unserved)
      select 'n1', gen_random_uuid(), now(), now(), true, ${sql.raw(EPOCH_SQL)}, pg_current_snapshot(), 0, 0, 0, '{}' from feed
      on conflict (name) do update set epoch = excluded.epoch, snapshot = excluded.snapshot, seen_at = now()`.execute(
      database.db,
    );
    await pause(Math.random() * 500);
  }
}

const NO_ANSWER = () => Promise.reject(new Error('the resolver is not asked'));

it.skipIf(needsPebble !== '')(
  `loses no order, and answers none before its records are observed${needsPebble}`,
  { timeout: 1_200_000 },
  async () => {
    const { db } = database;
    const ids: number[] = [];
    const accounts: number[] = [];
    for (let i = 0; i < DOMAINS; i++) {
      if (i < ACCOUNTS) accounts.push(await newAccount(db, `a${i}@example.net`));
      const { id } = await newDomain(db, accounts[i % ACCOUNTS] as number, `shop${i}.example.com.`);
      ids.push(id);
    }
    await sql`update domains set status = 'active'`.execute(db);
    for (const domainId of ids)
      expect(await requestCertificateFor(db, { domainId })).toEqual({ kind: 'changed' });

    const tooEarly: string[] = [];
    class Watched extends Authority {
      override async answer(...given: Parameters<Authority['answer']>): Promise<void> {
        const [challenges] = given;
        for (const { host } of challenges) {
          const { rows } = await sql<{ changeId: number }>`
            select o.change_id as "changeId" from acme_orders o join domains d on d.id = o.domain_id
            where d.name = ${`${host}.`}`.execute(db);
          const change = rows[0]?.changeId as number;
          if ((await inSync(db, [change])).get(change)?.inSync !== true) tooEarly.push(host);
        }
        await super.answer(...given);
      }
    }
    const authority = new Watched({ directory: proxy.directory, roots: proxy.roots, requestMs: 2000 });
    const resolver = { observeCaa: NO_ANSWER, observeAddresses: NO_ANSWER, observeTxt: NO_ANSWER };
    const errors: unknown[] = [];
    const job = createIssuer({ db, resolver, authority, askServersAfterMs: 3_600_000, onOutcome: () => {} });
    const count = async () => {
      const { rows } = await sql<{
        count: number;
      }>`select count(*)::integer as count from certificates`.execute(db);
      return (rows[0] as { count: number }).count;
    };
    const work = async () => {
      while ((await count()) < DOMAINS && errors.length === 0) {
        const { rows } = await claimDueOrders(db, { limit: 1 });
        if (rows.length === 0) await pause(50);
        for (const { id } of rows) {
          const killed = Math.random() < KILLED;
          const signal = killed
            ? AbortSignal.timeout(1 + Math.floor(Math.random() * 300))
            : new AbortController().signal;
          await job({ orderId: id }, { signal, again: false }).catch((error) => {
            if (!signal.aborted) errors.push(error);
          });
          // in a fleet, the lease ends or the queue finds the lost job
          if (signal.aborted) await sql`update acme_orders set due_at = now() where id = ${id}`.execute(db);
          // waits of minutes after a fault are shortened here
          await sql`update acme_orders set due_at = least(due_at, now() + interval '1 second')
            where id = ${id} and not exists (select from certificates c where c.domain_id = acme_orders.domain_id)`.execute(
            db,
          );
        }
      }
    };
    await Promise.all(Array.from({ length: WORKERS }, work));
    authority.close();
    expect(errors).toEqual([]);
    expect(tooEarly).toEqual([]);
    expect(await count()).toBe(DOMAINS);
    const { rows: left } = await sql`select name from records where type = 'TXT'`.execute(db);
    expect(left).toEqual([]);
    const { rows: shown } = await sql`select owner from zone_records where type = 16 and not removed`.execute(
      db,
    );
    expect(shown).toEqual([]);
    const { rows: certificates } = await sql<{ id: number; domain: string }>`
      select c.id, d.name as domain from certificates c join domains d on d.id = c.domain_id`.execute(db);
    for (const { id, domain } of certificates) {
      const opened = await openCertificate(db, id);
      const leaf = new X509Certificate(opened?.chain ?? '');
      const name = domain.replace(/\.$/, '');
      expect(leaf.subjectAltName).toContain(`DNS:${name}`);
      expect(leaf.subjectAltName).toContain(`DNS:*.${name}`);
    }
    for (const domainId of ids.slice(0, 5)) expect(await checkPublished(db, domainId)).toEqual([]);
    expect(proxy.counts.failed).toBeGreaterThan(0);
  },
);
