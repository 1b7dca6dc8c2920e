// The log of checks: what was saved is what is loaded, page by page.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Evidence } from '../../../src/checks/delegation/evidence.ts';
import { parseName, ROOT } from '../../../src/dns/name.ts';
import {
  countChecks,
  findCheckByRequest,
  listChecks,
  loadCheck,
} from '../../../src/store/checks/load-checks.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { checkOnce, judgedCheck, judgedOrder, saveOne } from '../../support/database/saved-checks.ts';
import { DS } from '../../support/world/check-evidence.ts';

const REQUEST = '5f0c7d0a-1111-4222-8333-444455556666';

let database: TestDatabase;
let db: Database;
let domainId: number;

beforeAll(async () => {
  database = await createDatabase();
  ({ db } = database);
  domainId = (await newDomain(db, await newAccount(db, 'me@example.org'))).id;
});
afterAll(() => database.drop());

const save = async (evidence: Partial<Evidence>, request?: string) => {
  const order = await judgedCheck(db, domainId, 'timeout', {
    kind: 'manual',
    ...(request !== undefined && { request }),
  });
  const [own] = order.orders;
  const saved = await saveOne(db, {
    ...order,
    orders: [{ ...own, evidence: { ...own.evidence, ...evidence } }],
  });
  if (saved.kind !== 'saved') throw new Error(saved.kind);
  return saved.checkId;
};

test('evidence comes back as it was: any octet in a name, every outcome, a walk that failed', async () => {
  const odd = parseName('\\000\\.\\255.com.');
  const { evidence } = await judgedOrder(
    db,
    domainId,
    'referral ns1.example.net +ds; timeout; refused; lame',
  );
  const full: Evidence = {
    ...evidence,
    walk: [{ zone: ROOT, servers: [odd], cached: true }],
    servers: evidence.servers.map((server, i) =>
      i === 0
        ? { ...server, ns: [odd], ds: [DS], ttl: 172_800, rcode: 0, aa: false, transport: 'tcp' as const }
        : { ...server, rttMs: undefined, error: 'no answer' },
    ),
  };
  const failed: Evidence = {
    ...evidence,
    parent: undefined,
    servers: [],
    parentAddresses: 0,
    failure: { zone: odd, reason: 'lame', message: 'none of them serves it' },
  };
  for (const seen of [full, failed]) {
    const id = await save(seen);
    expect((await loadCheck(db, domainId, id))?.evidence).toEqual(seen);
  }
});

test('a run is found by its request, by its id in its domain only, and as itself', async () => {
  const id = await save({}, REQUEST);
  expect(await findCheckByRequest(db, REQUEST)).toMatchObject({ id, kind: 'manual', domainId });
  expect(await findCheckByRequest(db, REQUEST.replace('5', '6'))).toBeUndefined();
  expect(await loadCheck(db, domainId + 1, id)).toBeUndefined();
  expect(await loadCheck(db, domainId, id + 1)).toBeUndefined();
});

test('the newest come first, older ones by page, evidence when it is asked for', async () => {
  for (let i = 0; i < 5; i++) await save({});
  const all = await listChecks(db, domainId, { limit: 100 });
  const ids = all.map(({ id }) => id);
  expect(ids).toEqual([...ids].sort((a, b) => b - a));
  expect(all.every(({ evidence }) => evidence === undefined)).toBe(true);
  const before = ids[2] as number;
  const page = await listChecks(db, domainId, { limit: 2, behind: before, evidence: true });
  expect(page.map(({ id }) => id)).toEqual(ids.slice(3, 5));
  expect(page.every(({ evidence }) => evidence !== undefined)).toBe(true);
  const newer = await listChecks(db, domainId, { limit: 100 }, { after: before });
  expect(newer.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  const oldest = await listChecks(db, domainId, { limit: 2, offset: 1, descending: false });
  expect(oldest.map(({ id }) => id)).toEqual([ids.at(-2), ids.at(-3)]);
  expect(await countChecks(db, domainId, {})).toBe(ids.length);
  expect(await countChecks(db, domainId, { verdicts: ['alias'] })).toBe(0);
  expect(await countChecks(db, domainId, { kinds: ['operator', 'manual'] })).toBe(
    all.filter(({ kind }) => kind !== 'background').length,
  );
});

test('of what a zone says without end so much is kept as anybody reads', async () => {
  const many = Array.from({ length: 500 }, (_, i) => `ns${i}.elsewhere.test`).join(' ');
  const saved = await checkOnce(db, domainId, `referral ${many}`);
  if (saved.kind !== 'saved') throw new Error(saved.kind);
  const run = await loadCheck(db, domainId, saved.checkId);
  expect(run?.currentNs).toHaveLength(64);
  expect(run?.evidence?.servers[0]).toMatchObject({ error: '436 more names are not kept' });
  expect(run?.evidence?.servers[0]?.ns).toHaveLength(64);
  const texts = (await loadDomainById(db, domainId))?.findings.map(({ message }) => message.length) ?? [];
  expect(Math.max(...texts)).toBe(2000);
});

test('texts that Postgres has no place for are no reason to lose a check', async () => {
  const { evidence } = await judgedOrder(db, domainId, 'bad');
  const servers = evidence.servers.map((server) => ({ ...server, error: 'a\0b\ud800c' }));
  const id = await save({ servers });
  expect((await loadCheck(db, domainId, id))?.evidence?.servers[0]?.error).toBe('a?b?c');
});
