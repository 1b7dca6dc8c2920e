// When a domain's own zone is due for a check, and what is stored of it.

import { beforeEach, expect, test } from 'vitest';
import type { ChildFinding } from '../../../src/checks/child/child-findings.ts';
import { parseName } from '../../../src/dns/name.ts';
import { endChildChecks, loadChildCheck, saveChildCheck } from '../../../src/store/checks/child-checks.ts';
import {
  claimDueChildChecks,
  loadChildDomain,
  noteCheckedDomains,
} from '../../../src/store/checks/due-child-checks.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { madeChild } from '../../support/world/made-child.ts';

const SET = ['ns1.example.net.', 'ns2.example.net.'];
const OTHER = ['ns1.other.test.'];

const { db, query } = sharedDatabase();
let id: number;
beforeEach(async () => {
  const accountId = await newAccount(db, 'me@example.org');
  id = (await newDomain(db, accountId)).id;
});

const shows = (ns: string[] | null) =>
  query`update domain_checks set current_ns = ${ns}::text[] where domain_id = ${id}`;
const note = (isByHand = false) => noteCheckedDomains(db, [{ domainId: id, isByHand }]);
const claim = async () => (await claimDueChildChecks(db, 10)).map(({ domainId }) => domainId);
const finding = (place: ChildFinding['place'], code: ChildFinding['code'] = 'TCP_REFUSED'): ChildFinding => ({
  code,
  severity: 'error',
  place,
  message: `Change ${place}.`,
  names: [parseName('ns1.example.net.')],
});
const save = async (findings: ChildFinding[] = [], wantedNs = SET, agoMs = 0) => {
  const now = Date.now();
  await saveChildCheck(db, {
    domainId: id,
    wantedNs,
    evidence: madeChild({ finishedAt: now - agoMs }),
    findings,
    nextAt: now + 86_400_000,
  });
};
const row = async () =>
  (
    await query<{ wanted: string[]; secondsLeft: number | null }>`
    select wanted_ns as wanted, extract(epoch from due_at - now())::int as "secondsLeft" from child_checks`
  )[0];

test('the first conclusive check makes a delegated zone due, and it is claimed once per lease', async () => {
  await note();
  await shows([]);
  await note(true);
  expect(await row()).toBeUndefined();
  await shows(SET);
  await note();
  expect(await claim()).toEqual([id]);
  expect(await claim()).toEqual([]);
  await note();
  expect(await claim()).toEqual([]);
});

test('an unchanged delegation makes nothing due, and a changed one does, but not at every check', async () => {
  await shows(SET);
  await note();
  await save();
  await note();
  expect((await row())?.secondsLeft).toBeGreaterThan(80_000);
  await shows(OTHER);
  await note();
  const { wanted, secondsLeft } = (await row()) as { wanted: string[]; secondsLeft: number };
  expect(wanted).toEqual(OTHER);
  expect(secondsLeft).toBeGreaterThan(500);
  expect(secondsLeft).toBeLessThanOrEqual(600);
  await save([], SET, 3_600_000); // an hour ago
  await shows(SET);
  await note();
  expect(await claim()).toEqual([id]);
});

test('a requested check is due immediately, and a delegation that changes during the check stays due', async () => {
  await shows(SET);
  await note();
  await save();
  await note(true);
  expect(await claim()).toEqual([id]);
  await shows(SET);
  await note();
  await claim();
  await shows(OTHER);
  await note();
  await save([], SET);
  expect((await row())?.secondsLeft).toBeLessThanOrEqual(120);
});

test('deleted, disabled and external domains are neither scheduled nor loaded', async () => {
  await shows(SET);
  await note();
  expect(await loadChildDomain(db, id)).toMatchObject({ wantedNs: SET, isActive: false });
  await query`update domains set status = 'disabled', served = 'none' where id = ${id}`;
  expect(await loadChildDomain(db, id)).toBeUndefined();
  await endChildChecks(db, id);
  await note(true);
  expect(await claim()).toEqual([]);
});

test('findings are loaded as they were saved', async () => {
  await shows(SET);
  expect(await loadChildCheck(db, id)).toBeUndefined();
  await note();
  expect(await loadChildCheck(db, id)).toBeUndefined();
  await save([finding('zone')]);
  expect(await loadChildCheck(db, id)).toMatchObject({
    findings: [{ ...finding('zone') }],
    evidence: { complete: true, servers: [{ name: 'ns1.example.com.' }, { name: 'ns2.example.com.' }] },
    queries: 12,
  });
});

test('a domain shows the findings that its owner can fix at the registrar, only for the present delegation', async () => {
  const shown = async () => (await loadDomainById(db, id))?.findings.map(({ message }) => message);
  await shows(SET);
  await note();
  await save([finding('zone'), finding('registrar'), finding('operator', 'OUR_SERVERS_UNREACHABLE')]);
  await query`update domain_checks set conclusive_ours = false`;
  expect(await shown(), 'while the parent names none of ours').toEqual([]);
  await query`update domain_checks set conclusive_ours = true`;
  expect(await shown()).toEqual(['Change registrar.']);
  await shows(OTHER);
  expect(await shown()).toEqual([]);
  await shows(SET);
  await query`update domains set status = 'disabled', served = 'none' where id = ${id}`;
  expect(await shown()).toEqual([]);
});

test('only a limited part of what servers send is stored', async () => {
  await shows(SET);
  await note();
  const names = Array.from({ length: 500 }, (_, i) => parseName(`ns${i}.example.net.`));
  await save([{ ...finding('zone'), names, message: 'x\0'.repeat(5000) }]);
  const [kept] = (await loadChildCheck(db, id))?.findings ?? [];
  expect(kept?.names).toHaveLength(64);
  expect(kept?.message).toHaveLength(2000);
});
