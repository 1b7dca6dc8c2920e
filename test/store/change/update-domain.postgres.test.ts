// What an owner sets: fields that change nothing in DNS, and the choice of nameservers, which does.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { listSubscriptions } from '../../../src/store/accounts/subscriptions.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { setSuspended, updateDomain } from '../../../src/store/change/update-domain.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { migrate } from '../../../src/store/migrate/migrate.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import { TEST_SETTINGS } from '../../support/database/database.ts';
import {
  BY,
  expectPublished,
  newAccount,
  newDomain,
  published,
  saved,
} from '../../support/database/domains.ts';
import { listRecords } from '../../support/database/list-records.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const OTHER_SET = ['ns1.example.org', 'ns2.example.org', 'ns3.example.org'];

const { db, query } = sharedDatabase();
let domainId: number;

beforeAll(async () => {
  await migrate(db, {
    ...TEST_SETTINGS,
    nameserverSets: [...TEST_SETTINGS.nameserverSets, OTHER_SET],
  });
});
beforeEach(async () => {
  const accountId = await newAccount(db, 'a@example.org');
  domainId = (await newDomain(db, accountId, 'example.com.', { exempt: true })).id;
});

const update = (set: Parameters<typeof updateDomain>[1]['set']) => updateDomain(db, { ...BY, domainId, set });
const names = (texts: readonly string[]) => texts.map((text) => parseName(`${text}.`));

test('fields are set alone, and are no change of what is served', async () => {
  const until = new Date('2030-01-01T00:00:00Z');
  const set = { cacheCapMb: 128, secNoSniff: true, developerModeUntil: until, uptimeWindowMin: 60 };
  expect(await update(set)).toMatchObject({ kind: 'updated', changeId: undefined, domain: set });
  expect(await update({ developerModeUntil: null })).toMatchObject({
    domain: { ...set, developerModeUntil: null },
  });
  expect(await listDomainChanges(db, domainId, { limit: 9 })).toHaveLength(1);
});

test('another accepted set is published and listed, any other is refused with all that came with it', async () => {
  await saved(db, domainId, ['@ TXT x', 'www A 192.0.2.1']);
  const updated = await update({ nameservers: [...names(OTHER_SET)].reverse() });
  expect(updated).toMatchObject({ kind: 'updated', domain: { serial: 3 } });
  if (updated.kind === 'updated') expect(updated.domain.nameserverSets[0]).toEqual(names(OTHER_SET));
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
  expect(await loadDomainById(db, domainId)).toMatchObject({ secNoSniff: false, serial: 3 });
});

test('what the parent delegates to comes before the choice', async () => {
  await query`update domains set delegated_ns = ${['ns2.example.net.', 'ns1.example.net.']}`;
  expect(await update({ nameservers: names(OTHER_SET) })).toMatchObject({ changeId: undefined });
  expect((await published(db))?.[0]).toBe('@ 86400 NS ns1.example.net.');
  await expectPublished(db, domainId);
});

test('nameservers and mode that change in one call are one change', async () => {
  await saved(db, domainId, ['@ TXT x', '@ MX 10 mail.example.net', 'www A 192.0.2.1']);
  await query`update domains set status = 'active'`;
  const set = { nameservers: names(OTHER_SET), dnsMode: 'external' as const };
  const updated = await update(set);
  expect(updated).toMatchObject({
    kind: 'updated',
    domain: { status: 'unverified', dnsMode: 'external', served: 'full', serial: 3 },
  });
  const [newest, ...older] = await listDomainChanges(db, domainId, { limit: 9 });
  expect(newest).toMatchObject({
    serial: 3,
    operation: 'status',
    status: { from: 'active', to: 'unverified' },
  });
  expect(updated).toMatchObject({ changeId: newest?.id });
  expect(older.map(({ operation }) => operation)).toEqual(['edit', 'create']);
  expect(await published(db)).toEqual([
    ...OTHER_SET.map((name) => `@ 86400 NS ${name}.`),
    '@ 3600 SOA serial 3',
    '@ 300 MX 10 mail.example.net.',
    '@ 300 TXT "x"',
    'www 300 A 192.0.2.1',
  ]);
  await expectPublished(db, domainId);
  expect(await update({ dnsMode: 'managed' })).toMatchObject({
    domain: { status: 'pending', verification: null },
  });
  await expectPublished(db, domainId);
});

test('nameservers with the mode that the domain has are a change of nameservers', async () => {
  const updated = await update({ nameservers: names(OTHER_SET), dnsMode: 'managed' });
  expect(updated).toMatchObject({ kind: 'updated', domain: { status: 'pending', serial: 2 } });
  const [newest] = await listDomainChanges(db, domainId, { limit: 1 });
  expect(newest).toMatchObject({ operation: 'nameservers', source: BY.source });
  expect(updated).toMatchObject({ changeId: newest?.id });
  await expectPublished(db, domainId);
});

test('a choice that the delegation overrides comes with the mode, and one part refused leaves nothing', async () => {
  await query`update domains set delegated_ns = ${['ns2.example.net.', 'ns1.example.net.']}`;
  const mixed = names(['ns1.example.org', 'ns1.example.net']);
  expect(await update({ nameservers: mixed, dnsMode: 'external', secNoSniff: true })).toMatchObject({
    kind: 'refused',
    code: 'not_accepted',
  });
  expect(await loadDomainById(db, domainId)).toMatchObject({ status: 'pending', secNoSniff: false });
  const updated = await update({ nameservers: names(OTHER_SET), dnsMode: 'external', secNoSniff: true });
  expect(updated).toMatchObject({ domain: { status: 'unverified', serial: 2, secNoSniff: true } });
  await expectPublished(db, domainId);
});

test('a set that is spent for the domain is accepted no more than one that is nobody’s', async () => {
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

test('nothing is set on a domain that is off', async () => {
  await query`update domains set status = 'banned', served = 'none'`;
  expect(await update({ secNoSniff: true })).toMatchObject({ kind: 'refused', code: 'domain_banned' });
});

test('suspension and plan are no matter of DNS; each plan is one subscription', async () => {
  expect(await setSuspended(db, { domainId, suspended: true })).toMatchObject({
    domain: { suspended: true },
  });
  expect(await setSuspended(db, { domainId, suspended: false })).toMatchObject({
    domain: { suspended: false, suspendedAt: null, serial: 1 },
  });
  expect(await setPlan(db, { domainId, planSlug: 'free' })).toMatchObject({
    domain: { plan: { slug: 'free', maxRecords: 200 } },
  });
  expect(await setPlan(db, { domainId, planSlug: 'none' })).toMatchObject({
    kind: 'refused',
    code: 'unknown_plan',
  });
  expect(await setPlan(db, { domainId, planSlug: null })).toMatchObject({ domain: { plan: null } });
  expect(await listSubscriptions(db, domainId)).toMatchObject([
    { status: 'cancelled', plan: { slug: 'free' } },
    { status: 'cancelled', plan: { slug: 'pro' } },
  ]);
});
