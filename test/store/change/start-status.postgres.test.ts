// The TXT record that is offered to claims: who gets the offer, its effect on answers, and what ends it.

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { migrate } from '../../../src/features/migrate.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import {
  claimDueVerifications,
  renewExpiredVerification,
} from '../../../src/store/verifications/verified-domain.ts';
import {
  BY,
  expectPublished,
  newAccount,
  newDomain,
  published,
  saved,
} from '../../support/database/domains.ts';
import { POOL } from '../../support/database/pool-accounts.ts';
import { checkOnce, DAY_MS } from '../../support/database/saved-checks.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { makeVerification, type SaidWorld } from '../../support/world/made-verifications.ts';

/** Its DNS is at another provider. */
const ELSEWHERE = 'referral ns1.other. ns2.other.';

const { db, query } = sharedDatabase();
/** Two claims of one name. */
let first: number;
let second: number;
beforeAll(() => migrate(db, POOL));
beforeEach(async () => {
  first = await claim('a@example.org');
  second = await claim('b@example.org');
});

const claim = async (email: string) =>
  (await newDomain(db, await newAccount(db, email), 'example.com.', { exempt: false })).id;
const domain = async (id: number) =>
  (await loadDomainById(db, id)) as NonNullable<Awaited<ReturnType<typeof loadDomainById>>>;
const ownSet = async (id: number) => ((await domain(id)).nameserverSets[0] ?? []).map(printName);
const codes = async (id: number) => (await domain(id)).findings.map(({ code }) => code);
const offers = () => query<{ id: number; offered: boolean; due: boolean }>`
    select domain_id as id, offered, due_at is not null as due from domain_verifications order by 1`;
/** Advances by fifteen minutes and checks the name. */
const nextTurn = async (said = ELSEWHERE) => {
  await query`update domains set turn_from = turn_from - interval '15 minutes',
    turn_until = turn_until - interval '15 minutes'`;
  await checkOnce(db, first, said);
};
const has = async (id: number): Promise<SaidWorld> => {
  const value = (await domain(id)).verification?.value as string;
  return { servers: [[value], [value]] };
};
const look = async (id: number, said: SaidWorld, now = Date.now()) =>
  await makeVerification(db, { domainId: id }, () => said, { now });
const ABSENT: SaidWorld = { servers: ['nxdomain', 'nxdomain'] };

describe('the offer', () => {
  test('is made to both claims at the first conclusive check, and shown with the record', async () => {
    expect(await offers()).toEqual([]);
    await checkOnce(db, first, 'timeout');
    expect(await offers()).toEqual([]);
    await checkOnce(db, first, ELSEWHERE);
    expect(await offers()).toEqual([
      { id: first, offered: true, due: true },
      { id: second, offered: true, due: true },
    ]);
    const { findings, verification } = await domain(first);
    const { message } = findings.find(({ code }) => code === 'PREPARE') as (typeof findings)[number];
    expect(message).toContain(`name _svc-challenge.example.com, value ${verification?.value}`);
    expect(verification).toMatchObject({ verified: false, verifiedUntil: null });
    expect((await domain(second)).verification?.value).not.toBe(verification?.value);
    await checkOnce(db, first, ELSEWHERE);
    expect((await domain(first)).verification).toEqual(verification);
  });

  test('shows its times only to the minute, so that they do not reveal another account’s claim', async () => {
    await deleteDomain(db, { ...BY, domainId: second });
    await checkOnce(db, first, ELSEWHERE);
    await claim('c@example.org');
    const { verification } = await domain(first);
    for (const at of [verification?.startedAt, verification?.expiresAt, verification?.nextAt])
      expect(at?.toISOString()).toMatch(/:00\.000Z$/);
  });

  test('is not made to a single claim, and ends when the other claim is deleted', async () => {
    await deleteDomain(db, { ...BY, domainId: second });
    await checkOnce(db, first, ELSEWHERE);
    expect(await offers()).toEqual([]);
    expect(await domain(first)).toMatchObject({ served: 'full', verification: null });

    const third = await claim('c@example.org');
    expect(await offers()).toEqual([{ id: first, offered: true, due: true }]);
    await query`update domain_verifications set due_at = now() + interval '6 hours', next_at = now() + interval '6 hours',
      attempts = 9`;
    await changeStatus(db, { ...BY, domainId: third, event: 'disable' });
    expect(await offers()).toEqual([{ id: first, offered: false, due: false }]);
    expect([await codes(first), (await domain(first)).verification]).toEqual([['NS_FOREIGN'], null]);

    // A claim that comes and goes causes no further query.
    await changeStatus(db, { ...BY, domainId: third, event: 'enable' });
    expect(
      await query`
      select due_at > now() + interval '5 hours' as "isLater", attempts from domain_verifications
      where domain_id = ${first}`,
    ).toEqual([{ isLater: true, attempts: 9 }]);
  });

  test('is not made if the parent shows another account’s set, because then the fleet itself serves the DNS', async () => {
    const others = (await ownSet(second)).join(' ');
    await deleteDomain(db, { ...BY, domainId: second });
    await checkOnce(db, first, `referral ${others}`);
    expect(await codes(first)).toContain('PRESET_DELEGATION');
    expect(await offers()).toEqual([]);
    // After the delegation moves to another provider, only earlier sightings prevent the offer.
    await checkOnce(db, first, ELSEWHERE);
    expect(await domain(first)).toMatchObject({ served: 'apex' });
    expect(await offers()).toEqual([{ id: first, offered: true, due: true }]);
    await look(first, await has(first));
    expect(await domain(first)).toMatchObject({ served: 'full' });
  });

  test('ends for all claims when the parent’s delegation gives the name to one', async () => {
    await checkOnce(db, first, ELSEWHERE);
    await checkOnce(db, first, `referral ${(await ownSet(second)).join(' ')}`);
    expect(await domain(second)).toMatchObject({ status: 'active', verification: null });
    expect((await offers()).map(({ due }) => due)).toEqual([false, false]);
    expect(await codes(first)).not.toContain('PREPARE');
    expect((await claimDueVerifications(db, { limit: 10 })).rows).toEqual([]);
  });
});

describe('a TXT record that was found', () => {
  beforeEach(async () => {
    await saved(db, first, ['www A 192.0.2.1']);
    await saved(db, second, ['www A 192.0.2.2']);
    await checkOnce(db, first, ELSEWHERE);
    await query`update domains set turn_asked_at = null`;
  });

  test('gives the claim the next turn with complete answers, but no other status', async () => {
    expect((await domain(first)).nsTurn).not.toBeNull();
    const outcome = await look(second, await has(second));
    expect(outcome).toMatchObject({ kind: 'saved', verdict: 'verified', transition: undefined });
    const { status, verification } = await domain(second);
    expect([status, verification?.verified]).toEqual(['pending', true]);
    expect(verification?.verifiedUntil?.getTime()).toBeGreaterThan(Date.now() + 13.9 * DAY_MS);
    expect(await codes(second)).not.toContain('PREPARE');
    expect((await domain(first)).served).toBe('apex'); // its turn continues
    await nextTurn();
    expect(await domain(second)).toMatchObject({ served: 'full', status: 'pending' });
    expect((await published(db))?.at(-1)).toBe('www 300 A 192.0.2.2');
    await expectPublished(db, first, second);
  });

  test('allows complete answers again after the turn of a claim without a record', async () => {
    await look(second, await has(second));
    await nextTurn();
    await query`update domains set turn_asked_at = now() where id = ${first}`;
    await nextTurn();
    expect([(await domain(first)).served, (await domain(second)).served]).toEqual(['apex', 'none']);
    expect(
      await query`
      select due_at <= now() + interval '15 minutes' as "isDue" from domain_checks`,
    ).toEqual([{ isDue: true }, { isDue: true }]);
    await nextTurn();
    expect((await domain(second)).served).toBe('full');
  });

  test('expires fourteen days after it was last found', async () => {
    await look(second, await has(second));
    await nextTurn();
    const now = Date.now();
    await look(second, ABSENT, now + 13 * DAY_MS);
    expect((await domain(second)).served).toBe('full');
    await query`update domain_verifications set verified_at = verified_at - interval '14 days',
      expires_at = expires_at - interval '15 days'`;
    const never = () => Promise.reject(new Error('nobody may look'));
    expect(await makeVerification(db, { domainId: second }, never)).toMatchObject({ kind: 'expired' });
    expect(await domain(second)).toMatchObject({ served: 'apex', status: 'pending' });
    expect(await codes(second)).toContain('PREPARE');
    await expectPublished(db, first, second);
    // Further steps must be requested by the owner.
    expect((await offers()).find(({ id }) => id === second)).toMatchObject({ offered: true, due: false });
    const before = (await domain(second)).verification?.value;
    expect(await renewExpiredVerification(db, second)).toBe(true);
    expect((await domain(second)).verification?.value).not.toBe(before);
    expect((await offers()).find(({ id }) => id === second)).toMatchObject({ due: true });
  });

  test('no longer counts after the parent has shown another account’s set, even if that set disappears', async () => {
    await look(second, await has(second));
    await nextTurn();
    expect((await domain(second)).served).toBe('full');
    // A set of an account without a claim.
    const taken = [...(await ownSet(first)), ...(await ownSet(second))];
    const free = [1, 2, 3, 4, 5, 6, 7, 8].map((i) => [`ns${i}.a.example.`, `ns${i}.b.example.`]);
    const others = free.find((set) => !set.some((name) => taken.includes(name))) as string[];
    await checkOnce(db, first, `referral ${others.join(' ')}`);
    expect((await domain(second)).served).toBe('apex');
    await checkOnce(db, first, ELSEWHERE);
    expect((await domain(second)).served).toBe('apex');
    expect((await domain(second)).verification).toMatchObject({ verified: false });
    await expectPublished(db, first, second);
  });

  test('is ignored if the offer ended before the result was saved', async () => {
    const said = await has(second);
    const outcome = await makeVerification(
      db,
      { domainId: second, kind: 'background' },
      async () => {
        await deleteDomain(db, { ...BY, domainId: first });
        return said;
      },
      { now: Date.now() + 70_000 },
    );
    expect(outcome).toMatchObject({ kind: 'conflict' });
  });
});
