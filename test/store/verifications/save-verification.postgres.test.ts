// The effects of a verification: the domain's status in one change, or the next query; and its run.

import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { restoreDomain } from '../../../src/store/change/restore-domain.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import { findNewestVerification } from '../../../src/store/verifications/load-verifications.ts';
import {
  loadVerifiedDomain,
  renewExpiredVerification,
} from '../../../src/store/verifications/verified-domain.ts';
import { BY, expectPublished, newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { makeVerification, type SaidWorld } from '../../support/world/made-verifications.ts';

const DAY_MS = 86_400_000;

const { db, query } = sharedDatabase();
let mine: number;
let domainId: number;
beforeEach(async () => {
  mine = await newAccount(db, 'me@example.org');
  domainId = (await newDomain(db, mine, 'example.com.', { dnsMode: 'external' })).id;
});

const domain = async (id = domainId) =>
  (await loadDomainById(db, id)) as NonNullable<Awaited<ReturnType<typeof loadDomainById>>>;
const tokenOf = async (id = domainId) => (await domain(id)).verification?.value as string;
const ABSENT: SaidWorld = { servers: ['nxdomain', 'nodata'] };
const PRESENT = async (id = domainId): Promise<SaidWorld> => {
  const has = [await tokenOf(id)];
  return { servers: [has, has] };
};
const verify = (said: SaidWorld, id = domainId) => makeVerification(db, { domainId: id }, () => said);
const columns = async (id = domainId) => {
  const rows = await query<{ attempts: number; seq: number; dueAt: Date | null; nextAt: Date | null }>`
    select attempts, seq, due_at as "dueAt", next_at as "nextAt" from domain_verifications where domain_id = ${id}`;
  return rows[0] as (typeof rows)[number];
};
/** Counts domains that are due for a check of their delegation, which domains in external mode never are. */
const checksDue = async () => (await query`select from domain_checks where due_at is not null`).length;
/** Makes the verifications due. */
const due = () => query`update domain_verifications set due_at = now(), next_at = now()`;
const ago = (column: string, days: number) =>
  query`update domain_verifications set ${sql.ref(column)} = now() - make_interval(days => ${days}::integer)`;

describe('a TXT record that is on every server', () => {
  test('the domain becomes active in one change that refers to the run', async () => {
    expect(await verify(await PRESENT())).toMatchObject({
      kind: 'saved',
      name: 'example.com.',
      verdict: 'verified',
      transition: { from: 'unverified', to: 'active' },
    });
    const { status, served, verification } = await domain();
    expect([status, served, verification?.verified, verification?.nextAt]).toEqual([
      'active',
      'none',
      true,
      null,
    ]);
    expect(await columns()).toMatchObject({ dueAt: null, nextAt: null });
    const [change] = await listDomainChanges(db, domainId, { limit: 1 });
    expect(change).toMatchObject({
      source: 'status',
      actor: { kind: 'system' },
      status: { from: 'unverified', to: 'active' },
    });
    expect(await query`select change_id as id from verification_runs`).toEqual([{ id: change?.id }]);
    await expectPublished(db, domainId);
  });

  test('a formerly managed domain that is still served stays served', async () => {
    const managed = await newDomain(db, mine, 'moving.com.');
    await query`update domains set status = 'active' where id = ${managed.id}`;
    await changeStatus(db, { ...BY, domainId: managed.id, event: 'use_external' });
    expect(await verify(await PRESENT(managed.id), managed.id)).toMatchObject({
      transition: { to: 'active' },
    });
    expect(await domain(managed.id)).toMatchObject({ status: 'active', dnsMode: 'external', served: 'full' });
    await expectPublished(db, managed.id);
  });

  test('it stays unverified while another account holds the name, with a finding', async () => {
    const other = await newAccount(db, 'other@example.org');
    const holder = await newDomain(db, other);
    await query`update domains set status = 'active' where id = ${holder.id}`;
    const said = await PRESENT();
    expect(await verify(said)).toMatchObject({ kind: 'saved', verdict: 'verified', transition: undefined });
    const { status, findings } = await domain();
    expect([status, findings.map(({ code }) => code)]).toEqual(['unverified', ['NAME_IN_USE']]);
    expect((await columns()).dueAt?.getTime()).toBeGreaterThan(Date.now() + 3_000_000);
    expect((await domain(holder.id)).status).toBe('active');

    await deleteDomain(db, { ...BY, domainId: holder.id });
    expect(await verify(said)).toMatchObject({ transition: { to: 'active' } });
    expect((await domain()).findings).toEqual([]);
  });

  test('other accounts’ claims of the name continue to wait, and those inside it are lost', async () => {
    const other = await newAccount(db, 'other@example.org');
    const claim = await newDomain(db, other);
    const inner = await newDomain(db, other, 'www.example.com.');
    expect(await verify(await PRESENT())).toMatchObject({ transition: { to: 'active' } });
    expect(await domain(claim.id)).toMatchObject({ status: 'pending', findings: [{ code: 'APEX_ONLY' }] });
    expect(await domain(inner.id)).toMatchObject({ status: 'disabled', findings: [{ code: 'CLAIM_LOST' }] });
    await expectPublished(db, domainId, claim.id);
  });
});

describe('a missing TXT record', () => {
  test('each run is stored, up to twenty per domain, and the next query is scheduled', async () => {
    for (let i = 1; i <= 23; i++) {
      await due();
      expect(await makeVerification(db, { domainId, kind: 'background' }, () => ABSENT)).toMatchObject({
        kind: 'saved',
        verdict: 'absent',
      });
      expect((await columns()).attempts).toBe(i);
    }
    expect(await query`select count(*)::int as n from verification_runs`).toEqual([{ n: 20 }]);
    const { dueAt, nextAt } = await columns();
    expect(dueAt).toEqual(nextAt);
    expect((await domain()).verification?.nextAt).toEqual(nextAt);
    await verify(ABSENT); // a user requests it
    expect((await columns()).attempts).toBe(0);
  });

  test('the run has every server’s reply, with any octets', async () => {
    const value = await tokenOf();
    await makeVerification(db, { domainId }, () => ({
      servers: [[value], ['"quoted"', 'bell\x07', 'nul\0', 'größe'], [`long ${'x'.repeat(400)}`], 'timeout'],
    }));
    const run = await findNewestVerification(db, domainId, value);
    expect(run).toMatchObject({ verdict: 'partial', found: 1, asked: 4 });
    expect(run?.servers.map(({ address, outcome, values }) => [address, outcome, values])).toEqual([
      ['192.0.2.1', 'found', [value]],
      ['192.0.2.2', 'other', ['"\\"quoted\\""', '"bell\\007"', '"nul\\000"', 'größe']],
      ['192.0.2.3', 'other', [`long ${'x'.repeat(250)}…`]],
      ['192.0.2.4', 'error', undefined],
    ]);
    expect(run?.resolvers).toEqual([{ address: '198.51.100.53', outcome: 'absent' }]);
    expect(run?.message).toContain('1 of 4');
    expect(run?.evidence).toMatchObject({ links: [{ host: '_svc-challenge.example.com.' }], queries: 10 });
  });

  test('the domain is disabled at the end of its time, and its name can be claimed', async () => {
    await ago('started_at', 28);
    expect(await verify(ABSENT)).toMatchObject({
      verdict: 'absent',
      transition: { from: 'unverified', to: 'disabled' },
    });
    const { status, served } = await domain();
    expect([status, served]).toEqual(['disabled', 'none']);
    expect(await checksDue()).toBe(0);
    expect(await columns()).toMatchObject({ dueAt: null, nextAt: null });
    await expectPublished(db, domainId);
    const other = await newAccount(db, 'other@example.org');
    await newDomain(db, other, 'example.com.', { dnsMode: 'external' });
  });
});

describe('an expired value', () => {
  test('is no longer queried, and only the end of the domain’s time remains scheduled', async () => {
    await ago('expires_at', 0);
    const never = () => Promise.reject(new Error('nobody may look'));
    expect(await makeVerification(db, { domainId }, never)).toMatchObject({
      kind: 'expired',
      transition: undefined,
    });
    const { verification } = await domain();
    const end = (verification?.startedAt.getTime() ?? 0) + 28 * DAY_MS;
    expect([(await columns()).dueAt?.getTime(), verification?.nextAt]).toEqual([end, null]);
    expect(await makeVerification(db, { domainId }, never, { now: end })).toMatchObject({
      kind: 'expired',
      transition: { to: 'disabled' },
    });
    expect((await domain()).status).toBe('disabled');
  });

  test('is renewed once, without restarting the domain’s time', async () => {
    expect(await renewExpiredVerification(db, domainId)).toBe(false);
    await ago('expires_at', 1);
    const before = (await domain()).verification;
    const renewed = await Promise.all([1, 2, 3].map(() => renewExpiredVerification(db, domainId)));
    expect(renewed.filter(Boolean)).toHaveLength(1);
    const after = (await domain()).verification;
    expect(after?.value).toMatch(/^svc-verify=[a-z2-7]{32}$/);
    expect(after?.value).not.toBe(before?.value);
    expect(after?.startedAt).toEqual(before?.startedAt);
    expect(after?.expiresAt.getTime()).toBeGreaterThan(Date.now() + 13.9 * DAY_MS);
    expect(after?.nextAt?.getTime()).toBeLessThan(Date.now() + 120_000);
    expect(await findNewestVerification(db, domainId, after?.value as string)).toBeUndefined();
  });

  test('that was found before it was renewed proves nothing', async () => {
    const said = await PRESENT();
    const outcome = await makeVerification(
      db,
      { domainId, kind: 'background' },
      async () => {
        await ago('expires_at', 1);
        await renewExpiredVerification(db, domainId);
        return said;
      },
      { now: Date.now() + 70_000 },
    );
    expect(outcome).toMatchObject({ kind: 'conflict' });
    expect((await domain()).status).toBe('unverified');
  });
});

describe('a name that another account has by its TXT record', () => {
  const MINUTE_MS = 60_000;
  let holder: number;
  let now: number;
  beforeEach(async () => {
    holder = (
      await newDomain(db, await newAccount(db, 'first@example.org'), 'example.com.', { dnsMode: 'external' })
    ).id;
    await verify(await PRESENT(holder), holder);
    expect((await domain(holder)).status).toBe('active');
    now = Date.now();
  });
  const later = (minutes: number) => {
    now += minutes * MINUTE_MS;
  };
  const look = (said: SaidWorld, more: { frozen?: boolean; sendsMail?: boolean } = {}) =>
    makeVerification(db, { domainId }, () => said, { now, ...more });
  const codes = async (id: number) => (await domain(id)).findings.map(({ code }) => code);
  const both = async (): Promise<SaidWorld> => {
    const values = [await tokenOf(), await tokenOf(holder)];
    return { servers: [values, values] };
  };

  test('mails the holder once before the transfer, if mail is sent', async () => {
    const mails = () => query`select kind, domain_id as "domainId", message from mails`;
    await look(await PRESENT());
    expect(await mails()).toEqual([]);
    await look(await both());
    await look(await PRESENT(), { sendsMail: true });
    later(5);
    await look(await PRESENT(), { sendsMail: true });
    expect(await mails()).toEqual([
      {
        kind: 'takeover',
        domainId: holder,
        message: expect.stringContaining(`value ${await tokenOf(holder)}`),
      },
    ]);
  });

  test('is transferred after two queries ten minutes apart, and the holder is warned in between', async () => {
    const said = await PRESENT();
    expect(await look(said)).toMatchObject({ verdict: 'verified', transition: undefined });
    expect([await codes(domainId), await codes(holder)]).toEqual([['TAKEOVER_WAITS'], ['TAKEOVER_SEEN']]);
    const [warning] = (await domain(holder)).findings;
    expect(warning?.message).toContain(`value ${await tokenOf(holder)}`);
    expect((await columns()).dueAt?.getTime()).toBe(now + 10 * MINUTE_MS);
    later(9.9);
    expect(await look(said)).toMatchObject({ transition: undefined });
    later(0.2);
    expect(await look(said)).toMatchObject({
      transition: { from: 'unverified', to: 'active' },
      lost: holder,
    });
    const lost = await domain(holder);
    expect([lost.status, lost.disabledBy, await codes(holder)]).toEqual([
      'disabled',
      'checker',
      ['CLAIM_LOST'],
    ]);
    expect([(await domain()).status, await codes(domainId)]).toEqual(['active', []]);
    expect(await checksDue()).toBe(0);
    expect(await query`select from_account_id as "from", to_account_id as "to" from name_takeovers`).toEqual([
      { from: lost.accountId, to: mine },
    ]);
    // Its owner enables it, publishes the new value, and takes the name back in the same way.
    await changeStatus(db, { ...BY, domainId: holder, event: 'enable', transfer: true });
    const back = await PRESENT(holder);
    await makeVerification(db, { domainId: holder }, () => back, { now });
    later(10);
    expect(await makeVerification(db, { domainId: holder }, () => back, { now })).toMatchObject({
      lost: domainId,
    });
  });

  test('restarts after a query in between that finds no value, or also the holder’s', async () => {
    const said = await PRESENT();
    await look(said);
    for (const between of [ABSENT, await both()]) {
      later(5);
      await look(between);
      expect([await codes(domainId), await codes(holder)]).toEqual([
        expect.not.arrayContaining(['TAKEOVER_WAITS']),
        [],
      ]);
      later(6);
      await look(said);
      expect((await domain(holder)).status).toBe('active');
    }
    later(10);
    expect(await look(said)).toMatchObject({ lost: holder });
  });

  test('is not transferred while the breaker holds takeovers, and after four per day only after six hours', async () => {
    const said = await PRESENT();
    await look(said);
    later(20);
    await look(said, { frozen: true });
    expect((await domain(holder)).status).toBe('active');
    for (let i = 1; i <= 4; i++)
      await query`insert into name_takeovers (name, at, from_account_id, to_account_id)
        values ('example.com.', now() - make_interval(hours => ${i}::integer), 1, 2)`;
    await look(said);
    later(5.5 * 60);
    await look(said);
    expect((await domain(holder)).status).toBe('active');
    later(0.2 * 60);
    expect(await look(said)).toMatchObject({ lost: holder });
  });

  test('is never taken from a domain that the parent’s delegation proved', async () => {
    await query`update domains set dns_mode = 'managed' where id = ${holder}`;
    const said = await PRESENT();
    for (let i = 0; i < 3; i++) {
      await look(said);
      later(20);
    }
    expect([(await domain(holder)).status, await codes(domainId)]).toEqual(['active', ['NAME_IN_USE']]);
  });

  test('a first query no longer counts for a new value, or against another holder', async () => {
    await look(await PRESENT());
    await ago('expires_at', 1);
    await renewExpiredVerification(db, domainId);
    later(20);
    await look(await PRESENT());
    expect((await domain(holder)).status).toBe('active');
    const said = await PRESENT();
    const outcome = await makeVerification(
      db,
      { domainId, kind: 'background' },
      async () => {
        await query`update domain_verifications set value = 'svc-verify=other' where domain_id = ${holder}`;
        return said;
      },
      { now: now + 20 * MINUTE_MS },
    );
    expect(outcome).toMatchObject({ kind: 'conflict' });
  });
});

describe('changes during the query', () => {
  test.each(['disable', 'ban', 'use_managed'] as const)('%s: the result is not saved', async (event) => {
    const said = await PRESENT();
    const later = { now: Date.now() + 70_000 };
    const outcome = await makeVerification(
      db,
      { domainId, kind: 'background' },
      async () => {
        await changeStatus(db, { ...BY, domainId, event });
        return said;
      },
      later,
    );
    expect(outcome).toMatchObject({ kind: 'conflict' });
    expect((await domain()).status).not.toBe('active');
    expect(await loadVerifiedDomain(db, domainId)).toBeUndefined();
  });

  test.each([
    ['disable', 'enable'],
    ['use_managed', 'use_external'],
  ] as const)('%s and %s: what was seen of the earlier life proves nothing', async (...events) => {
    const said = await PRESENT();
    const outcome = await makeVerification(db, { domainId }, async () => {
      const { seq } = await columns();
      for (const event of events) await changeStatus(db, { ...BY, domainId, event });
      await query`update domain_verifications set seq = ${seq}`; // restores `seq`, which alone is not enough
      return said;
    });
    expect(outcome).toMatchObject({ kind: 'conflict' });
    expect((await domain()).status).toBe('unverified');
  });

  test('disabling and enabling, or deleting and restoring, starts again with a new value', async () => {
    const first = await tokenOf();
    await verify(ABSENT);
    await changeStatus(db, { ...BY, domainId, event: 'disable' });
    expect(await columns()).toMatchObject({ dueAt: null, nextAt: null });
    await changeStatus(db, { ...BY, domainId, event: 'enable' });
    const second = await tokenOf();
    expect([(await domain()).status, (await columns()).attempts]).toEqual(['unverified', 0]);
    expect((await columns()).dueAt).not.toBeNull();
    await deleteDomain(db, { ...BY, domainId });
    expect(await columns()).toMatchObject({ dueAt: null, nextAt: null });
    await restoreDomain(db, { ...BY, domainId });
    expect(new Set([first, second, await tokenOf()]).size).toBe(3);
    expect((await columns()).dueAt).not.toBeNull();
  });

  test('managed mode ends it, and external mode starts it', async () => {
    const first = await tokenOf();
    await changeStatus(db, { ...BY, domainId, event: 'use_managed' });
    expect(await columns()).toBeUndefined();
    await changeStatus(db, { ...BY, domainId, event: 'use_external' });
    const said = await PRESENT();
    expect(await tokenOf()).not.toBe(first);
    expect(await verify(said)).toMatchObject({ transition: { to: 'active' } });
  });

  test('one of several concurrent saves makes it active, in one change', async () => {
    const said = await PRESENT();
    const outcomes = await Promise.all(
      [1, 2, 3, 4].map(() => makeVerification(db, { domainId, request: randomUUID() }, () => said)),
    );
    const moved = outcomes.filter((outcome) => outcome.kind === 'saved' && outcome.transition !== undefined);
    expect(moved).toHaveLength(1);
    const changes = await listDomainChanges(db, domainId, { limit: 10 });
    expect(changes.map(({ status }) => status?.to)).toEqual(['active', 'unverified']);
  });
});
