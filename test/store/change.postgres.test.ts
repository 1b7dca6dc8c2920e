import { sql } from 'kysely';
import { afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { type Name, parseName } from '../../src/dns/name.ts';
import { migrate } from '../../src/features/migrate.ts';
import { addTerm } from '../../src/store/accounts/plans.ts';
import { listSubscriptions } from '../../src/store/accounts/subscriptions.ts';
import { approveDomain } from '../../src/store/change/approve-domain.ts';
import { changeStatus } from '../../src/store/change/change-status.ts';
import { moveSubscriptions } from '../../src/store/change/move-subscriptions.ts';
import { restoreDomain } from '../../src/store/change/restore-domain.ts';
import { createDomain, deleteDomain } from '../../src/store/change/save-domain.ts';
import { saveEdit } from '../../src/store/change/save-edit.ts';
import { setPlan } from '../../src/store/change/set-plan.ts';
import { setSuspended, updateDomain } from '../../src/store/change/update-domain.ts';
import { claimDueDomains } from '../../src/store/checks/claim-due-domains.ts';
import { gatherChecks } from '../../src/store/checks/gather-checks.ts';
import { takeManualCheck } from '../../src/store/checks/manual-check.ts';
import { loadDomainById } from '../../src/store/domains/load-domains.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { listDomainChanges } from '../../src/store/records/load-changes.ts';
import { claimDueVerifications } from '../../src/store/verifications/verified-domain.ts';
import type { StatusEvent } from '../../src/zone/domain/domain-status.ts';
import { NO_WALLET } from '../support/billing/no-wallet.ts';
import { asRole, TEST_SETTINGS } from '../support/database/database.ts';
import {
  BY,
  expectPublished,
  expectSerials,
  limitClaims,
  newAccount,
  newDomain,
  published,
  saved,
  wantedDomain,
} from '../support/database/domains.ts';
import { listRecords } from '../support/database/list-records.ts';
import { checkOnce, judgedCheck } from '../support/database/saved-checks.ts';
import { followLoaded, untilEqual } from '../support/processes/follow.ts';
import { scale } from '../support/tests/scale.ts';
import { keptDatabase, sharedDatabase } from '../support/tests/shared-database.ts';
import { makeVerification } from '../support/world/made-verifications.ts';
import { APEX, edit } from '../support/zone/customer-records.ts';

const { db, url, query } = sharedDatabase();

describe('lock-domain', () => {
  // Writers of a domain, of its checks and of its verification must not deadlock.
  const ROUNDS = scale(12, 3);
  const OURS = 'referral ns1.example.net ns2.example.net';

  const { db, url, query } = keptDatabase();
  /** Closed before deadlocks are counted, because connections report their statistics when they end. */
  let working: Database;
  let ids: number[];
  const apexOf = new Map<number, Name>();

  beforeEach(async () => {
    working = openDatabase(url);
    const accountId = await newAccount(db, 'me@example.org');
    ids = [];
    apexOf.clear();
    accounts.clear();
    for (let i = 0; i < 5; i++) {
      const { id, name } = await newDomain(db, accountId, `d${i}.test.`);
      ids.push(id);
      apexOf.set(id, name);
    }
    // Other accounts wait for some of the names.
    for (const name of ['d0.test.', 'd1.test.', 'd2.test.'])
      for (const email of ['b', 'c']) {
        const rival = await accountOf(`${email}@example.org`);
        const { id } = await newDomain(db, rival, name, { exempt: email === 'b' });
        ids.push(id);
        apexOf.set(id, parseName(name));
      }
  });
  afterEach(() => working.destroy());

  const accounts = new Map<string, number>();
  const accountOf = async (email: string) => {
    const known = accounts.get(email) ?? (await newAccount(db, email));
    accounts.set(email, known);
    return known;
  };

  test('all writers run concurrently on the same domains without deadlock, and publish correct zones', async () => {
    const each = async (work: (id: number, round: number) => Promise<unknown>): Promise<void> => {
      for (let round = 0; round < ROUNDS; round++) await Promise.all(ids.map((id) => work(id, round)));
    };
    // The domain may be in external mode, or off, by then.
    const checked = async (save: ReturnType<typeof gatherChecks>, id: number, said: string) => {
      const order = await judgedCheck(working, id, said).catch(() => undefined);
      if (order !== undefined) await save(order);
    };
    const [one, two] = [gatherChecks(working), gatherChecks(working)];
    const writers = [
      each((id, round) => checked(one, id, round % 2 === 0 ? OURS : 'nxdomain')),
      each((id, round) => checked(two, id, round % 3 === 0 ? 'timeout' : OURS)),
      each((id, round) =>
        saveEdit(working, {
          ...BY,
          domainId: id,
          edit: edit({ create: [`n${round} TXT x`] }, apexOf.get(id) as Name),
        }),
      ),
      each(async (id, round) => {
        if (id % 2 === 0)
          await changeStatus(working, {
            ...BY,
            domainId: id,
            event: round % 2 === 0 ? 'disable' : 'enable',
            exempt: true,
          });
      }),
      each(async (id, round) => {
        if (id % 2 === 1)
          await updateDomain(working, {
            ...BY,
            domainId: id,
            set: { dnsMode: round % 2 === 0 ? 'external' : 'managed' },
          });
      }),
      each((id) => makeVerification(working, { domainId: id }, () => ({ servers: ['nxdomain', 'nodata'] }))),
      each(() => claimDueDomains(working, { limit: 100, perParent: 100, after: undefined, leaseSeconds: 0 })),
      each(() => claimDueVerifications(working, { limit: 100 })),
      each((id) => takeManualCheck(working, id)),
    ];
    const ended = (await Promise.allSettled(writers)).flatMap((result) =>
      result.status === 'rejected' ? [result.reason] : [],
    );
    await working.destroy();
    expect(ended).toEqual([]);
    expect(
      await query`
      select deadlocks from pg_stat_database where datname = current_database()`,
    ).toEqual([{ deadlocks: 0 }]); // aborted saves are repeated silently
    await expectPublished(db, ...ids);
  });
});

describe('move-subscriptions', () => {
  const DAY = 86_400_000;
  const { db, url, query, value } = keptDatabase();
  let accountId: number;
  let termId: number;
  let freeId: number;

  beforeAll(async () => {
    accountId = await newAccount(db, 'a@example.org');
    const plan = await addTerm(db, 'pro', { days: 30, priceRials: 500 });
    termId = plan?.terms.at(-1)?.id as number;
    const free = await addTerm(db, 'pro', { days: 10, priceRials: 0 });
    freeId = free?.terms.at(-1)?.id as number;
  });
  beforeEach(async () => {
    await query`delete from domains`;
  });

  const move = (at: number, limit?: number) =>
    moveSubscriptions(db, { at: new Date(at), wallet: NO_WALLET, ...(limit && { limit }) });
  const history = async (domainId: number) =>
    (await listSubscriptions(db, domainId))
      .reverse()
      .map(({ plan, status, endedAt }) => `${plan.slug} ${status}${endedAt === null ? '' : ' over'}`);

  async function pricedDomain(name = 'example.com.') {
    const { id } = await newDomain(db, accountId, name);
    await setPlan(db, { domainId: id, planSlug: 'pro', termId, overrides: { max_records: 7 } });
    const [own] = await listSubscriptions(db, id);
    return { id, end: (own?.expiresAt as Date).getTime() };
  }

  describe('a round', () => {
    it('processes a limited number, reports whether there is more, and concurrent workers repeat no step', async () => {
      const ends = new Set<number>();
      for (let i = 0; i < 12; i++) ends.add((await pricedDomain(`d${i}.test.`)).end);
      const at = Math.max(...ends) + 30 * DAY;
      expect(await move(at, 5)).toMatchObject({ ended: 5, isMore: true });
      const workers = await Promise.all([1, 2, 3, 4].map(() => move(at, 5)));
      const rest = await move(at, 50);
      expect([...workers, rest].reduce((sum, { ended }) => sum + ended, 0)).toBe(7);
      expect(await move(at, 50)).toMatchObject({ ended: 0, isMore: false });
      expect(
        await value<number>`select count(*)::integer as n from subscriptions where ended_at is null`,
      ).toBe(12);
    });

    it('skips a locked domain, and needs only the privileges of the workers’ role', async () => {
      const { id, end } = await pricedDomain();
      const other = openDatabase(url, { maxConnections: 1 });
      await other.transaction().execute(async (trx) => {
        await sql`select from domains where id = ${id} for update`.execute(trx);
        expect(await move(end + 30 * DAY)).toMatchObject({ ended: 0 });
      });
      await other.destroy();
      expect(await move(end + 30 * DAY)).toMatchObject({ ended: 1 });
      const late = (await pricedDomain('late.test.')).end + 30 * DAY;
      const db = openDatabase(asRole(url, 'zonefleet_worker'));
      const order = { at: new Date(late), wallet: NO_WALLET };
      expect(await moveSubscriptions(db, order)).toMatchObject({ ended: 1 });
      await db.destroy();
    });

    it('skips deleted domains, and a restored domain continues its subscription', async () => {
      const { id, end } = await pricedDomain();
      await deleteDomain(db, { ...BY, domainId: id });
      expect(await move(end - DAY)).toMatchObject({ unpaid: 0 });
      await restoreDomain(db, { ...BY, domainId: id });
      expect(await move(end - DAY)).toMatchObject({ unpaid: 1 });
      const [own] = await listSubscriptions(db, id);
      expect(own).toMatchObject({
        status: 'active',
        expiresAt: new Date(end),
        overrides: { max_records: 7 },
      });
    });

    it('renews free terms, and charges the wallet for others in the transaction of the term', async () => {
      const { id } = await newDomain(db, accountId);
      await setPlan(db, { domainId: id, planSlug: 'pro', termId: freeId });
      const [own] = await listSubscriptions(db, id);
      const end = (own?.expiresAt as Date).getTime();
      expect(await move(end - 3 * DAY)).toMatchObject({ renewed: 1, unpaid: 0 });
      const priced = await pricedDomain('priced.test.');
      const order = { at: new Date(priced.end - 3 * DAY), limit: 10 };
      const broken = { lock: async () => () => Promise.reject(new Error('the wallet is away')) };
      await expect(moveSubscriptions(db, { ...order, wallet: broken })).rejects.toThrow('away');
      const paid: object[] = [];
      const wallet = {
        lock: async () => async (charge: object) => paid.push(charge) > 0,
      };
      await moveSubscriptions(db, { ...order, wallet });
      expect(paid).toEqual([
        {
          accountId,
          subscriptionId: (await listSubscriptions(db, priced.id))[0]?.id,
          domainId: priced.id,
          priceRials: 500,
          description: 'Pro for 30 days: priced.test',
          period: { start: new Date(priced.end), end: new Date(priced.end + 30 * DAY) },
          at: order.at,
        },
      ]);
      const [renewed] = await listSubscriptions(db, priced.id);
      expect(renewed).toMatchObject({ status: 'active', expiresAt: new Date(priced.end + 30 * DAY) });
    });

    it('continues after one subscription fails, reports the error, and retries it later', async () => {
      const domains = [];
      for (const name of ['one.test.', 'bad.test.', 'two.test.']) domains.push(await pricedDomain(name));
      const [one, bad, two] = domains as [(typeof domains)[0], (typeof domains)[0], (typeof domains)[0]];
      const at = new Date(bad.end - DAY);
      let isBroken = true;
      const wallet = {
        lock: async (trx: Database) => async (charge: { domainId: number }) => {
          // An error of Postgres itself, after which only the savepoint saves the transaction.
          if (isBroken && charge.domainId === bad.id) await sql`select 1 / 0`.execute(trx);
          return true;
        },
      };
      const failed: unknown[] = [];
      const order = {
        wallet,
        onFailed: (which: object, error: unknown) => failed.push([which, String(error)]),
      };
      expect(await moveSubscriptions(db, { ...order, at })).toMatchObject({ renewed: 2, failed: 1 });
      const [own] = await listSubscriptions(db, bad.id);
      expect(failed).toEqual([
        [{ id: own?.id, domainId: bad.id }, expect.stringContaining('division by zero')],
      ]);
      expect(own).toMatchObject({ status: 'active', expiresAt: new Date(bad.end), chargeTriedAt: null });
      for (const { id, end } of [one, two])
        expect((await listSubscriptions(db, id))[0]).toMatchObject({ expiresAt: new Date(end + 30 * DAY) });
      // It does not take the slot of another subscription in the meantime.
      expect(await moveSubscriptions(db, { ...order, at, limit: 1 })).toMatchObject({
        failed: 0,
        isMore: false,
      });
      isBroken = false;
      const later = new Date(at.getTime() + 15 * 60_000);
      expect(await moveSubscriptions(db, { ...order, at: later })).toMatchObject({ renewed: 1, failed: 0 });
    });
  });

  describe('a trial', () => {
    const trial = { planSlug: 'pro', days: 14 };
    const self = async (email: string) =>
      (await value<number>`
      update accounts set self_registered = true, plan_id = (select id from plans where slug = 'free')
      where id = ${await newAccount(db, email)} returning id`) as number;
    const create = async (account: number, name: string, rest = {}) => {
      const created = await createDomain(db, wantedDomain(account, name, { trial, ...rest }));
      if (created.kind !== 'created') throw new Error(created.message);
      return created.domain;
    };

    it('is given once, to the first domain of a self-registered account, and ends in the free plan without grace', async () => {
      const account = await self('self@example.org');
      const first = await create(account, 'first.test.');
      expect(await history(first.id)).toEqual(['pro active']);
      const [own] = await listSubscriptions(db, first.id);
      expect(own).toMatchObject({ isTrial: true, term: null, autoRenew: false });
      expect(await history((await create(account, 'second.test.')).id)).toEqual(['free active']);
      await deleteDomain(db, { ...BY, domainId: first.id });
      await query`delete from domains where id = ${first.id}`;
      expect(await history((await create(account, 'first.test.')).id)).toEqual(['free active']);
      const third = await create(await self('other@example.org'), 'third.test.');
      const end = (await listSubscriptions(db, third.id))[0]?.expiresAt as Date;
      expect(await move(end.getTime())).toMatchObject({ grace: 0, ended: 1 });
      expect(await history(third.id)).toEqual(['pro expired over', 'free active']);
    });

    it('is not given to accounts created by an operator, or that already have a domain', async () => {
      const made = await newAccount(db, 'made@example.org');
      expect(await history((await create(made, 'made.test.')).id)).toEqual(['pro active']);
      expect((await listSubscriptions(db, (await create(made, 'made2.test.')).id))[0]?.isTrial).toBe(false);
      const old = await self('old@example.org');
      await create(old, 'before.test.', { trial: undefined });
      expect(await history((await create(old, 'after.test.')).id)).toEqual(['free active']);
    });
  });
});

describe('change-status', () => {
  let domainId: number;

  beforeEach(async () => {
    domainId = (await newDomain(db, await newAccount(db, 'a@example.org'))).id;
  });

  const row = () =>
    db
      .selectFrom('domains')
      .select(['status', 'account_id'])
      .where('id', '=', domainId)
      .executeTakeFirstOrThrow();
  const move = (event: StatusEvent, rest = {}) =>
    changeStatus(db, { ...BY, domainId, event, exempt: true, ...rest });

  test('each transition is one change, and a disabled domain is removed from the nodes and restored unchanged', async () => {
    const node = await followLoaded({ databaseUrl: url });
    await saved(db, domainId, ['@ TXT x', 'www A 192.0.2.1', 'p A 192.0.2.1 ; proxied']);
    const steps: [StatusEvent, string, boolean][] = [
      ['disable', 'disabled', false],
      ['ban', 'banned', false],
      ['unban', 'pending', true],
      ['ban', 'banned', false],
      ['disable', 'disabled', false],
      ['enable', 'pending', true],
      ['use_external', 'unverified', false], // never proved, so no resolver was sent here
      ['use_managed', 'pending', true],
    ];
    for (const [event, status, isServed] of steps) {
      expect(await move(event)).toMatchObject({ kind: 'updated', domain: { status } });
      await expectPublished(db, domainId);
      await untilEqual(node, db);
      expect([event, node.zones.has(APEX)]).toEqual([event, isServed]);
    }
    expect(node.zones.get(APEX)?.records).toBe(7);
    const log = await listDomainChanges(db, domainId, { limit: steps.length });
    expect(log.map(({ status }) => `${status?.from} ${status?.to}`).reverse()).toEqual(
      steps.map(([, to], i) => `${i === 0 ? 'pending' : steps[i - 1]?.[1]} ${to}`),
    );
    expect(log.every(({ source, operation }) => source === 'status' && operation === 'status')).toBe(true);
    await node.stop();
  });

  test('enable is limited like create in the number of waiting domains, except for operators', async () => {
    await newDomain(db, (await row()).account_id, 'waits.test.');
    await move('disable');
    const enable = (rest = {}) => move('enable', { exempt: false, ...rest });
    expect(await enable({ claimsPerAccount: 1 })).toMatchObject({
      kind: 'refused',
      code: 'plan_limit',
      limit: 1,
    });
    const restore = await limitClaims(db, 1);
    expect(await enable()).toMatchObject({ kind: 'refused', code: 'plan_limit', limit: 1 });
    await restore();
    expect((await row()).status).toBe('disabled');
    expect(await enable({ claimsPerAccount: 2 })).toMatchObject({ kind: 'updated' });
    expect(await enable({ claimsPerAccount: 0 })).toMatchObject({ code: 'wrong_state' });
    await move('disable');
    expect(await move('enable')).toMatchObject({ kind: 'updated' });
  });

  test('a transition that is not allowed or comes too late changes nothing', async () => {
    expect(await move('enable')).toMatchObject({ kind: 'refused', code: 'wrong_state' });
    expect(await move('use_managed')).toMatchObject({ kind: 'updated', changeId: undefined });
    expect(await move('disable', { expected: 'active' })).toMatchObject({
      kind: 'refused',
      code: 'wrong_state',
    });
    expect(await move('enable', { domainId: 4711 })).toEqual({ kind: 'absent' });
    await move('ban');
    expect(await move('enable')).toMatchObject({ code: 'domain_banned' });
    const refused = await saveEdit(db, { ...BY, domainId, edit: edit({ create: ['a A 192.0.2.1'] }) });
    expect(refused).toMatchObject({ kind: 'refused', code: 'domain_banned' });
    expect(await listDomainChanges(db, domainId, { limit: 9 })).toHaveLength(2);
  });

  test('concurrent transitions each see the result of the previous one, and a returning name continues its serial', async () => {
    const kinds = await Promise.all(Array.from({ length: 8 }, async () => (await move('disable')).kind));
    expect(kinds.sort()).toEqual([...Array<string>(7).fill('refused'), 'updated']);
    await move('disable');
    await db.updateTable('domains').set({ disabled_by: 'checker' }).where('id', '=', domainId).execute();
    const other = await newDomain(db, await newAccount(db, 'b@example.org'));
    for (const host of ['a', 'b', 'c']) await saved(db, other.id, [`${host} A 192.0.2.1`]);
    const deleted = await deleteDomain(db, { ...BY, domainId: other.id });
    if (deleted.kind !== 'deleted') throw new Error(deleted.kind);
    expect(await move('enable')).toMatchObject({ kind: 'updated', domain: { serial: deleted.serial + 1 } });
    await expectPublished(db, domainId);
  });
});

describe('approve-domain', () => {
  const SETS = [...TEST_SETTINGS.nameserverSets, ['ns1.example.org', 'ns2.example.org']];
  const CLI = { by: { kind: 'cli', name: 'root' }, source: 'cli' } as const;
  let accountId: number;
  let id: number;

  beforeAll(() => migrate(db, { ...TEST_SETTINGS, nameserverSets: SETS }));
  beforeEach(async () => {
    accountId = await newAccount(db, 'a@example.org');
    ({ id } = await newDomain(db, accountId));
    await saved(db, id, ['www A 192.0.2.1']);
  });

  const approve = (domainId = id) => approveDomain(db, { ...CLI, domainId });

  const spentFirst = async () => {
    const left = JSON.stringify([{ names: SETS[1]?.map((name) => `${name}.`), exclusive: false }]);
    await query`update domains set ns_sets = ${left}::jsonb, open = false, by_operator = false,
      findings = '[{"code": "PRESET_DELEGATION", "message": "x"}, {"code": "STALE_DS", "message": "x"}]'`;
    await query`update domain_checks set current_ns = '{ns1.example.net.,ns2.example.net.}',
      due_at = now() + interval '1 hour', next_at = now() + interval '1 hour'`;
  };

  test('a set is taken from another account, which immediately has none left', async () => {
    const they = await newAccount(db, 'they@example.org');
    const theirs = await newDomain(db, they, 'example.com.', { exempt: false });
    const [first, second] = [theirs.nameserverSets[0], (await loadDomainById(db, id))?.nameserverSets[0]];
    if (first === undefined || second === undefined) throw new Error('no sets');
    expect(await approveDomain(db, { ...CLI, domainId: id, set: first })).toMatchObject({
      kind: 'refused',
      code: 'right_taken',
    });
    expect(await approveDomain(db, { ...CLI, domainId: id, set: first, take: true })).toMatchObject({
      kind: 'updated',
    });
    expect((await loadDomainById(db, theirs.id))?.findings.map(({ code }) => code)).toEqual([
      'SETS_SPENT',
      'APEX_ONLY',
    ]);
    expect((await loadDomainById(db, id))?.nameserverSets.map((set) => set.join())).toContain(first.join());
    for (const set of [first.slice(1), [first[0], second[1]]] as Name[][])
      expect(await approveDomain(db, { ...CLI, domainId: id, set })).toMatchObject({
        kind: 'refused',
        code: 'not_ours',
      });
  });

  test('the set that the parent shows proves the domain, its zone is served completely, and a check is due', async () => {
    await spentFirst();
    const approved = await approve();
    expect(approved).toMatchObject({
      kind: 'updated',
      domain: { status: 'pending', served: 'full', findings: [{ code: 'STALE_DS' }] },
    });
    if (approved.kind !== 'updated') return;
    expect(approved.domain.nameserverSets).toHaveLength(2);
    expect(approved.domain.findings).toHaveLength(1);
    expect(await published(db)).toEqual([
      '@ 86400 NS ns1.example.net.',
      '@ 86400 NS ns2.example.net.',
      `@ 3600 SOA serial ${approved.domain.serial}`,
      'www 300 A 192.0.2.1',
    ]);
    expect(await query`select name, names, account_id, exclusive from ns_rights`).toEqual([
      {
        name: 'example.com.',
        names: ['ns1.example.net.', 'ns2.example.net.'],
        account_id: accountId,
        exclusive: true,
      },
    ]);
    expect(
      await query`
      select due_at <= clock_timestamp() and next_at = due_at as due, seq > 0 as bumped from domain_checks`,
    ).toEqual([{ due: true, bumped: true }]);
    const [change] = await listDomainChanges(db, id, { limit: 1 });
    expect(change).toMatchObject({
      id: approved.changeId,
      actor: CLI.by,
      source: 'cli',
      operation: 'status',
      status: { from: 'pending', to: 'pending' },
    });
    await expectPublished(db, id);
    await expectSerials(db, id);
    expect(await checkOnce(db, id, 'referral ns1.example.net ns2.example.net')).toMatchObject({
      transition: { from: 'pending', to: 'active' },
    });
  });

  test('inside another account’s domain, only the apex is served', async () => {
    const inner = await newDomain(db, await newAccount(db, 'b@example.org'), 'in.example.com.', {
      exempt: false,
    });
    expect(await approve(inner.id)).toMatchObject({ domain: { served: 'apex' } });
    await query`update domains set status = 'active' where id = ${id}`;
    await changeStatus(db, { ...CLI, domainId: inner.id, event: 'disable' });
    await changeStatus(db, { ...CLI, domainId: inner.id, event: 'enable', exempt: true });
    await expectPublished(db, inner.id);
  });

  test('a deleted domain is absent', async () => {
    await deleteDomain(db, { ...CLI, domainId: id });
    expect(await approve()).toEqual({ kind: 'absent' });
    expect(await approve(4711)).toEqual({ kind: 'absent' });
  });
});

describe('update-domain', () => {
  const OTHER_SET = ['ns1.example.org', 'ns2.example.org', 'ns3.example.org'];
  let domainId: number;

  beforeAll(async () => {
    await migrate(db, {
      ...TEST_SETTINGS,
      nameserverSets: [...TEST_SETTINGS.nameserverSets, OTHER_SET],
    });
  });
  beforeEach(async () => {
    const accountId = await newAccount(db, 'a@example.org');
    domainId = (await newDomain(db, accountId)).id;
  });

  const update = (set: Parameters<typeof updateDomain>[1]['set']) =>
    updateDomain(db, { ...BY, domainId, set });
  const names = (texts: readonly string[]) => texts.map((text) => parseName(`${text}.`));

  test('settings are saved without a change of what is served', async () => {
    const until = new Date('2030-01-01T00:00:00Z');
    const set = { cacheCapMb: 128, secNoSniff: true, developerModeUntil: until, uptimeWindowMin: 60 };
    expect(await update(set)).toMatchObject({ kind: 'updated', changeId: undefined, domain: set });
    expect(await update({ developerModeUntil: null })).toMatchObject({
      domain: { ...set, developerModeUntil: null },
    });
    expect(await listDomainChanges(db, domainId, { limit: 9 })).toHaveLength(1);
  });

  test('another accepted set is published and listed, and any other set is rejected together with the rest of the call', async () => {
    await saved(db, domainId, ['@ TXT x', 'www A 192.0.2.1']);
    const updated = await update({ nameservers: [...names(OTHER_SET)].reverse() });
    if (updated.kind !== 'updated') throw new Error(updated.kind);
    const { serial, nameserverSets } = updated.domain;
    expect(nameserverSets[0]).toEqual(names(OTHER_SET));
    expect((await published(db))?.filter((line) => line.includes('NS'))).toEqual(
      OTHER_SET.map((name) => `@ 86400 NS ${name}.`),
    );
    const { items } = await listRecords(
      db,
      domainId,
      { types: ['NS'] },
      { sort: 'name', descending: false },
      { limit: 9 },
    );
    expect(items.map(({ managed, ttl }) => [managed, ttl])).toEqual(OTHER_SET.map(() => [true, 86_400]));
    await expectPublished(db, domainId);
    expect(await update({ nameservers: names(OTHER_SET) })).toMatchObject({ changeId: undefined });
    const mixed = { nameservers: names(['ns1.example.org', 'ns1.example.net']), secNoSniff: true };
    expect(await update(mixed)).toMatchObject({ kind: 'refused', code: 'not_accepted' });
    expect(await loadDomainById(db, domainId)).toMatchObject({ secNoSniff: false, serial });
  });

  test('the parent’s delegation takes precedence over the choice', async () => {
    await query`update domains set delegated_ns = ${['ns2.example.net.', 'ns1.example.net.']}`;
    expect(await update({ nameservers: names(OTHER_SET) })).toMatchObject({ changeId: undefined });
    expect((await published(db))?.[0]).toBe('@ 86400 NS ns1.example.net.');
    await expectPublished(db, domainId);
  });

  test('nameservers and mode in one call are one change', async () => {
    await saved(db, domainId, ['@ TXT x', '@ MX 10 mail.example.net', 'www A 192.0.2.1']);
    await query`update domains set status = 'active'`;
    const set = { nameservers: names(OTHER_SET), dnsMode: 'external' as const };
    const updated = await update(set);
    expect(updated).toMatchObject({
      kind: 'updated',
      domain: { status: 'unverified', dnsMode: 'external', served: 'full' },
    });
    const [newest, ...older] = await listDomainChanges(db, domainId, { limit: 9 });
    expect(newest).toMatchObject({ operation: 'status', status: { from: 'active', to: 'unverified' } });
    expect(updated).toMatchObject({ changeId: newest?.id });
    expect(older.map(({ operation }) => operation)).toEqual(['edit', 'create']);
    expect(await published(db)).toEqual([
      ...OTHER_SET.map((name) => `@ 86400 NS ${name}.`),
      `@ 3600 SOA serial ${newest?.serial}`,
      '@ 300 MX 10 mail.example.net.',
      '@ 300 TXT "x"',
      'www 300 A 192.0.2.1',
    ]);
    await expectPublished(db, domainId);
    expect(await update({ dnsMode: 'managed' })).toMatchObject({
      domain: { status: 'pending', verification: null },
    });
    await expectPublished(db, domainId);
    await expectSerials(db, domainId);
  });

  test('nameservers together with the present mode are only a change of nameservers', async () => {
    const updated = await update({ nameservers: names(OTHER_SET), dnsMode: 'managed' });
    expect(updated).toMatchObject({ kind: 'updated', domain: { status: 'pending' } });
    const [newest] = await listDomainChanges(db, domainId, { limit: 1 });
    expect(newest).toMatchObject({ operation: 'nameservers', source: BY.source });
    expect(updated).toMatchObject({ changeId: newest?.id });
    await expectPublished(db, domainId);
  });

  test('a choice that the delegation overrides is saved with the mode, and a rejected part saves nothing', async () => {
    await query`update domains set delegated_ns = ${['ns2.example.net.', 'ns1.example.net.']}`;
    const mixed = names(['ns1.example.org', 'ns1.example.net']);
    expect(await update({ nameservers: mixed, dnsMode: 'external', secNoSniff: true })).toMatchObject({
      kind: 'refused',
      code: 'not_accepted',
    });
    expect(await loadDomainById(db, domainId)).toMatchObject({ status: 'pending', secNoSniff: false });
    const updated = await update({ nameservers: names(OTHER_SET), dnsMode: 'external', secNoSniff: true });
    expect(updated).toMatchObject({ domain: { status: 'unverified', secNoSniff: true } });
    await expectPublished(db, domainId);
  });

  test('a used-up set of the domain is rejected like an unknown set', async () => {
    const left = TEST_SETTINGS.nameserverSets.map((set) => ({
      names: set.map((name) => `${name}.`),
      exclusive: false,
    }));
    await query`update domains set ns_sets = ${JSON.stringify(left)}::jsonb`;
    expect(await update({ nameservers: names(OTHER_SET) })).toMatchObject({
      kind: 'refused',
      code: 'not_accepted',
    });
    const first = names(TEST_SETTINGS.nameserverSets[0] as string[]);
    expect(await update({ nameservers: first })).toMatchObject({
      kind: 'updated',
      domain: { nameserverSets: [first] },
    });
  });

  test('a disabled domain accepts no settings', async () => {
    await query`update domains set status = 'banned', served = 'none'`;
    expect(await update({ secNoSniff: true })).toMatchObject({ kind: 'refused', code: 'domain_banned' });
  });

  test('a suspension does not change DNS', async () => {
    const serial = (await loadDomainById(db, domainId))?.serial;
    expect(await setSuspended(db, { domainId, suspended: true })).toMatchObject({
      domain: { suspended: true },
    });
    expect(await setSuspended(db, { domainId, suspended: false })).toMatchObject({
      domain: { suspended: false, suspendedAt: null, serial },
    });
  });
});
