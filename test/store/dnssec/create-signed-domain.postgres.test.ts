import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrate } from '../../../src/features/migrate.ts';
import { approveDomain } from '../../../src/store/change/approve-domain.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import type { NewDomain } from '../../../src/store/change/save-domain.ts';
import { takeInDomain } from '../../../src/store/dnssec/create-signed-domain.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { BY, expectPublished, newDomain, wantedDomain } from '../../support/database/domains.ts';
import { newPoolAccount, POOL } from '../../support/database/pool-accounts.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { evidenceOf, makeCheck, type Said } from '../../support/world/made-checks.ts';

const NAME = 'example.com.';
const ELSEWHERE = ['ns1.elsewhere.test.', 'ns2.elsewhere.test.'];
const setOf = (n: number) => [`ns${n}.a.example.`, `ns${n}.b.example.`];
/** A set of the pool that no account has. */
const SHOWN = setOf(3);

const { db } = sharedDatabase();
let mine: number;
let theirs: number;

beforeAll(() => migrate(db, POOL));
beforeEach(async () => {
  mine = await newPoolAccount(db, 'me@example.org', 1);
  theirs = await newPoolAccount(db, 'they@example.org', 2);
});

const takeIn = (rest: Partial<NewDomain> = {}, accountId = mine) =>
  takeInDomain(db, wantedDomain(accountId, NAME, { exempt: true, isApproved: true, ...rest }), undefined);
async function approved(rest: Partial<NewDomain> = {}): Promise<Domain> {
  const taken = await takeIn(rest);
  if (taken.kind !== 'created' && taken.kind !== 'exists') throw new Error(taken.message);
  return taken.domain;
}
const check = (domainId: number, said: Said) =>
  makeCheck(db, { domainId }, (domain) => evidenceOf(domain, said));
const load = async (id: number) => (await loadDomainById(db, id)) as Domain;
const codes = ({ findings }: Domain) => findings.map(({ code }) => code);

describe('an approved domain', () => {
  it('is served completely before any check, and proved by the set that the parent shows', async () => {
    const domain = await approved();
    expect(domain).toMatchObject({ status: 'pending', served: 'full', findings: [] });
    await check(domain.id, SHOWN);
    expect(await load(domain.id)).toMatchObject({ status: 'pending', served: 'full', findings: [] });
    await check(domain.id, SHOWN);
    expect(await load(domain.id)).toMatchObject({ status: 'active', served: 'full' });
    await expectPublished(db, domain.id);
  });

  it('waits for the set if the parent shows other nameservers or a part of a set first', async () => {
    const { id } = await approved();
    for (const said of [ELSEWHERE, SHOWN.slice(1), SHOWN, SHOWN]) await check(id, said);
    expect((await load(id)).status).toBe('active');
  });

  it.each([
    ['of its name', NAME],
    ['inside it', 'shop.example.com.'],
  ])('stays completely served if another account claims a name %s', async (_, name) => {
    const { id } = await approved();
    const other = await newDomain(db, theirs, name, { exempt: false });
    expect((await load(id)).served).toBe('full');
    expect((await load(other.id)).served).toBe('none');
    await expectPublished(db, id);
  });

  it.each([
    true,
    false,
  ])('stays completely served inside a name that an operator creates later (approved: %s)', async (isApproved) => {
    const inner = await newDomain(db, theirs, 'shop.example.com.', { exempt: true, isApproved: true });
    const outer = await approved({ isApproved });
    expect([(await load(inner.id)).served, outer.served]).toEqual(['full', 'apex']);
    expect(codes(outer)).toEqual(['APEX_ONLY']);
    await expectPublished(db, inner.id, outer.id);
  });

  it('takes the answers from a claim that another account made before', async () => {
    const other = await newDomain(db, theirs, NAME, { exempt: false });
    expect((await load(other.id)).served).toBe('apex');
    expect((await approved()).served).toBe('full');
    expect((await load(other.id)).served).toBe('none');
  });

  it('keeps waiting if another account has the right to the set', async () => {
    const other = await newDomain(db, theirs, NAME, { exempt: false });
    const { id } = await approved();
    await check(id, setOf(2));
    const domain = await load(id);
    expect(domain.served).not.toBe('full');
    expect(codes(domain)).toContain('PRESET_DELEGATION');
    for (let i = 0; i < 2; i++) await check(id, setOf(2));
    expect((await load(id)).status).toBe('pending');
    expect((await load(other.id)).status).toBe('active');
  });

  it('loses the approval when it is disabled', async () => {
    const { id } = await approved();
    for (const event of ['disable', 'enable'] as const)
      await changeStatus(db, { ...BY, domainId: id, event, exempt: true });
    for (let i = 0; i < 3; i++) await check(id, SHOWN);
    expect((await load(id)).status).toBe('pending');
  });
});

describe('takeInDomain', () => {
  it('does not let an unknown set prove a domain without approval', async () => {
    const { id } = await approved({ isApproved: false });
    for (let i = 0; i < 3; i++) await check(id, SHOWN);
    const domain = await load(id);
    expect([domain.status, codes(domain)]).toEqual(['pending', ['PRESET_DELEGATION']]);
  });

  it.each([
    true,
    false,
  ])('refuses a name that is answered for another account by an operator (approved: %s), unless with `take`', async (isApproved) => {
    const first = await approved({ isApproved });
    expect(await takeIn({}, theirs)).toMatchObject({ kind: 'refused', code: 'right_taken' });
    const { id } = await newDomain(db, theirs, NAME, { exempt: false });
    expect(await takeIn({}, theirs)).toMatchObject({ kind: 'refused', code: 'right_taken' });
    expect((await load(first.id)).served).toBe(isApproved ? 'full' : 'apex');
    await approveDomain(db, { ...BY, domainId: id, take: true });
    expect([(await load(first.id)).served, (await load(id)).served]).toEqual(['none', 'full']);
    await expectPublished(db, id);
  });

  it('refuses to approve a disabled domain', async () => {
    const { id } = await newDomain(db, mine, NAME);
    await changeStatus(db, { ...BY, domainId: id, event: 'disable' });
    expect(await takeIn()).toMatchObject({ kind: 'refused', code: 'nothing_to_approve' });
  });
});
