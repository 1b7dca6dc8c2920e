import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { parseName, printName } from '../../src/dns/name.ts';
import { changeStatus } from '../../src/store/change/change-status.ts';
import { addSlotTime } from '../../src/store/checks/check-shares.ts';
import { waitForVerification } from '../../src/store/verifications/load-verifications.ts';
import {
  claimDueVerifications,
  findUntrusted,
  loadVerifiedDomain,
} from '../../src/store/verifications/verified-domain.ts';
import { saveZones } from '../../src/store/zones/save-zones.ts';
import { BY, newAccount, newDomain } from '../support/database/domains.ts';
import { checkOnce } from '../support/database/saved-checks.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';
import { makeVerification, type SaidWorld, txtEvidenceOf } from '../support/world/made-verifications.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const { db, query, column } = sharedDatabase();

describe('claim-due-verifications', () => {
  let ids: number[];
  beforeEach(async () => {
    const accountId = await newAccount(db, 'me@example.org');
    ids = [];
    for (const label of ['a', 'b', 'c'])
      ids.push((await newDomain(db, accountId, `${label}.com.`, { dnsMode: 'external' })).id);
  });

  const dueAgo = (id: number, seconds: number) =>
    query`update domain_verifications set due_at = now() - make_interval(secs => ${seconds}), next_at = due_at
    where domain_id = ${id}`;
  const claim = async (limit = 10) => (await claimDueVerifications(db, { limit })).rows.map(({ id }) => id);

  test('a new value is queried after a minute', async () => {
    expect(await claim()).toEqual([]);
    expect(
      await column<number>`
    select extract(epoch from due_at - started_at)::int as seconds from domain_verifications`,
    ).toEqual([60, 60, 60]);
  });

  test('claims the longest due first, none twice within the lease, and keeps the scheduled time', async () => {
    const [a, b, c] = ids as [number, number, number];
    await dueAgo(a, 10);
    await dueAgo(b, 30);
    await dueAgo(c, 20);
    const planned = () => sql`select domain_id, next_at from domain_verifications order by 1`.execute(db);
    const before = await planned();
    expect((await claim(2)).sort()).toEqual([b, c].sort());
    expect(await claim()).toEqual([a]);
    expect(await claim()).toEqual([]);
    expect((await planned()).rows).toEqual(before.rows);
  });

  test('concurrent processes claim different domains, and only those to be verified', async () => {
    for (const id of ids) await dueAgo(id, 10);
    // A claim skips rows that another one has locked: the next claim gets them.
    const claimed = (await Promise.all([claim(2), claim(2), claim(2)])).flat();
    claimed.push(...(await claim(3)));
    expect(claimed.sort()).toEqual([...ids].sort());
    for (const id of ids) await dueAgo(id, 10);
    await query`update domains set status = 'active' where id = ${ids[0]}`;
    await query`update domains set dns_mode = 'managed' where id = ${ids[1]}`;
    await query`update domains set deleted_at = now(), zone_id = null where id = ${ids[2]}`;
    expect(await claim()).toEqual([]);
  });

  describe('accounts', () => {
    /** Creates an account with this many due domains, and gives those of `ids` to another one. */
    async function another(account: string, count: number): Promise<{ accountId: number; ids: number[] }> {
      const accountId = await newAccount(db, `${account}@example.org`);
      const own: number[] = [];
      for (let i = 0; i < count; i++)
        own.push((await newDomain(db, accountId, `${account}${i}.net.`, { dnsMode: 'external' })).id);
      for (const [i, id] of own.entries()) await dueAgo(id, 1000 - i);
      return { accountId, ids: own };
    }

    test('with many overdue domains do not delay others: each account’s first domain comes before second ones', async () => {
      const bulk = await another('bulk', 6);
      const [a, b] = ids as [number, number];
      await dueAgo(a, 2);
      await dueAgo(b, 1);
      expect(await claim(4)).toEqual([a, bulk.ids[0], b, bulk.ids[1]]);
      expect(await claim(4)).toEqual(bulk.ids.slice(2));
    });

    test('with much recent use come last, and not at all while only light ones are wanted', async () => {
      const bulk = await another('bulk', 3);
      const mid = await another('mid', 1);
      await addSlotTime(db, [
        { accountId: bulk.accountId, slotMs: 60_000 },
        { accountId: mid.accountId, slotMs: 1000 },
      ]);
      const [a, b, c] = ids as [number, number, number];
      for (const id of ids) await dueAgo(id, 1);
      expect((await claimDueVerifications(db, { limit: 2, lightOnly: true })).rows).toEqual([
        { id: a, slotMs: 0 },
        { id: mid.ids[0], slotMs: expect.closeTo(1000, -2) },
      ]);
      expect(await claim(10)).toEqual([b, c, ...bulk.ids]);
      expect((await claimDueVerifications(db, { limit: 2, lightOnly: true })).rows).toEqual([]);
    });

    test('after the one where the last round ended come next', async () => {
      const bulk = await another('bulk', 1);
      for (const id of ids) await dueAgo(id, 5);
      const rows = await query<{ first: number }>`select min(account_id) as first from domain_verifications`;
      const { rows: claimed } = await claimDueVerifications(db, {
        limit: 10,
        after: rows[0]?.first,
      });
      expect(claimed.map(({ id }) => id)).toEqual(bulk.ids);
    });
  });
});

describe('load-verified-domain', () => {
  const OURS = ['ns1.example.net.', 'ns2.example.net.'];
  let mine: number;
  beforeEach(async () => {
    mine = await newAccount(db, 'me@example.org');
  });

  test('a domain in external mode is loaded until it is proved', async () => {
    const { id, verification } = await newDomain(db, mine, 'outside.com.', { dnsMode: 'external' });
    const loaded = await loadVerifiedDomain(db, id);
    expect(loaded).toMatchObject({
      id,
      name: parseName('outside.com.'),
      host: parseName('_svc-challenge.outside.com.'),
      value: verification?.value,
      seq: 0,
      state: {
        startedAt: verification?.startedAt.getTime(),
        expiresAt: verification?.expiresAt.getTime(),
        attempts: 0,
      },
      nextAt: (verification?.startedAt.getTime() ?? 0) + 60_000,
    });
    expect([...(loaded?.ownServers ?? [])].map(printName)).toEqual(OURS);
    await changeStatus(db, { ...BY, domainId: id, event: 'ban' });
    expect(await loadVerifiedDomain(db, id)).toBeUndefined();
    await changeStatus(db, { ...BY, domainId: id, event: 'unban' });
    expect(await loadVerifiedDomain(db, id)).toBeDefined();
    await changeStatus(db, { ...BY, domainId: id, event: 'use_managed' });
    expect(await loadVerifiedDomain(db, id)).toBeUndefined();
  });

  describe('a response of the fleet’s own servers', () => {
    const own = new Set(OURS.map((name) => parseName(name)));
    const isTrusted = async (host: string, nameservers: readonly string[] = OURS) => {
      const { links } = txtEvidenceOf(parseName(host), { servers: [['x'], ['x']], nameservers });
      return (await findUntrusted(db, links, own)).size === 0;
    };

    test('proves something from an operator zone, or a zone of a customer to whom it is delegated', async () => {
      await saveZones(
        db,
        [
          {
            apex: parseName('lab.'),
            records: recordsOf('@ SOA ns.lab. h.lab. 1 2 3 4 5\n@ NS ns.lab.', 'lab.'),
          },
        ],
        {
          source: 'test',
          actor: 'me',
        },
      );
      expect(await isTrusted('_svc-challenge.team.lab.')).toBe(true);
      const { id } = await newDomain(db, mine, 'proved.com.');
      await checkOnce(db, id, `referral ${OURS.join(' ')}`);
      expect(await isTrusted('_svc-challenge.proved.com.')).toBe(true);
      await query`update domains set status = 'moved', moved_since = now() where id = ${id}`;
      expect(await isTrusted('_svc-challenge.proved.com.')).toBe(true);
    });

    test('proves nothing from a mere claim of any account at any depth, or from a zone of a leaving domain', async () => {
      await newDomain(db, mine, 'claimed.com.');
      expect(await isTrusted('_svc-challenge.claimed.com.')).toBe(false);
      const { id } = await newDomain(db, mine, 'around.com.');
      await checkOnce(db, id, `referral ${OURS.join(' ')}`);
      await newDomain(db, mine, 'deep.around.com.');
      expect(await isTrusted('_svc-challenge.around.com.')).toBe(true);
      expect(await isTrusted('_svc-challenge.deep.around.com.')).toBe(false);
      expect(await isTrusted('_svc-challenge.nobody.com.')).toBe(false);
      const { id: leaving } = await newDomain(db, mine, 'leaving.com.');
      await checkOnce(db, leaving, `referral ${OURS.join(' ')}`);
      await changeStatus(db, { ...BY, domainId: leaving, event: 'use_external' });
      expect(await isTrusted('_svc-challenge.leaving.com.')).toBe(false);
    });

    test('is relevant if a fleet server is among the servers or delegates, and other operators’ servers always count', async () => {
      expect(await isTrusted('_svc-challenge.nobody.com.', ['ns1.other.test.', 'NS2.Example.NET.'])).toBe(
        false,
      );
      expect(await isTrusted('_svc-challenge.nobody.com.', ['ns1.other.test.', 'ns2.other.test.'])).toBe(
        true,
      );
      const { links } = txtEvidenceOf(parseName('_svc-challenge.below.nobody.com.'), {
        servers: [['x']],
        above: OURS,
      });
      expect(await findUntrusted(db, links, own)).toEqual(own);
    });

    test('is recognized by the SOA if the delegation names the fleet’s servers differently', async () => {
      await newDomain(db, mine, 'vanity.com.');
      const { links } = txtEvidenceOf(parseName('_svc-challenge.vanity.com.'), {
        servers: [['x']],
        nameservers: ['ns1.vanity.com.'],
        primaries: ['NS1.example.net.'],
      });
      expect(await findUntrusted(db, links, own)).toEqual(own);
    });
  });
});

describe('wait-for-verification', () => {
  let accountId: number;
  let domains = 0;
  beforeEach(async () => {
    accountId = await newAccount(db, 'ann@shop.example');
  });

  async function waiting({ timeoutMs = 20_000, signal = new AbortController().signal } = {}) {
    const domain = await newDomain(db, accountId, `d${++domains}.com.`, { dnsMode: 'external' });
    const wanted = {
      domainId: domain.id,
      value: domain.verification?.value as string,
      request: randomUUID(),
      since: new Date(),
    };
    return { ...wanted, wait: () => waitForVerification(db, wanted, { timeoutMs, signal }) };
  }
  const make = (domainId: number, said: SaidWorld, request?: string) =>
    makeVerification(db, { domainId, ...(request && { request }) }, () => said);

  it('ends with the run of its request, but not with an earlier one that leaves the domain unverified', async () => {
    const { domainId, request, since, wait } = await waiting();
    const waited = wait();
    await make(domainId, { servers: ['nodata'], at: since.getTime() }, randomUUID());
    const mine = await make(domainId, { servers: ['nxdomain', 'nodata'] }, request);
    expect(await waited).toMatchObject({
      kind: 'run',
      run: { id: mine.kind === 'saved' && mine.runId, asked: 2 },
    });
  });

  it('returns the run that made the domain active, and not only that waiting has ended', async () => {
    const { domainId, value, request, wait } = await waiting();
    await make(domainId, { servers: [[value]] }, request);
    expect(await wait()).toMatchObject({ kind: 'run', run: { verdict: 'verified' } });
  });

  it('ends with a run of another request that started later', async () => {
    const { domainId, since, wait } = await waiting();
    const waited = wait();
    const other = await make(domainId, { servers: ['nodata'], at: since.getTime() + 1000 }, randomUUID());
    expect(await waited).toMatchObject({ kind: 'run', run: { id: other.kind === 'saved' && other.runId } });
  });

  it('ends after the timeout with a run that was in progress', async () => {
    const { domainId, since, wait } = await waiting({ timeoutMs: 400 });
    await make(domainId, { servers: ['nodata'], at: since.getTime() });
    const waited = wait();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const running = await make(domainId, { servers: ['nodata'], at: since.getTime() });
    expect(await waited).toMatchObject({
      kind: 'run',
      run: { id: running.kind === 'saved' && running.runId },
    });
  });

  it('ends if the value no longer needs to be verified', async () => {
    const proved = await waiting();
    await make(proved.domainId, { servers: [[proved.value]] });
    expect(await proved.wait()).toEqual({ kind: 'over' });
    const disabled = await waiting();
    await changeStatus(db, { ...BY, domainId: disabled.domainId, event: 'disable' });
    expect(await disabled.wait()).toEqual({ kind: 'over' });
    const expired = await waiting();
    await query`update domain_verifications set expires_at = now() where domain_id = ${expired.domainId}`;
    expect(await expired.wait()).toEqual({ kind: 'over' });
  });

  it('returns undefined after the timeout or an abort', async () => {
    expect(await (await waiting({ timeoutMs: 80 })).wait()).toBeUndefined();
    expect(await (await waiting({ timeoutMs: 60_000, signal: AbortSignal.abort() })).wait()).toBeUndefined();
  });
});
