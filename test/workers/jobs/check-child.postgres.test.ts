// The job that checks a domain's own nameservers: what it saves, and that it changes no status.

import { Registry } from 'prom-client';
import { beforeEach, expect, test } from 'vitest';
import type { ChildEvidence } from '../../../src/checks/child/evidence.ts';
import { parseName } from '../../../src/dns/name.ts';
import type { JobTools } from '../../../src/jobs/job.ts';
import type { ChildOptions } from '../../../src/resolver/child/observe-child.ts';
import { loadChildCheck } from '../../../src/store/checks/child-checks.ts';
import { noteCheckedDomains } from '../../../src/store/checks/due-child-checks.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { type ChildOutcome, createChildChecker } from '../../../workers/jobs/check-child.ts';
import { CheckNotes } from '../../../workers/jobs/note-checks.ts';
import { childJob } from '../../../workers/kinds/child-job.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { madeChild, madeProbe, madeServer } from '../../support/world/made-child.ts';

const OURS = parseName('ns1.example.net.');

const { db, query, value } = sharedDatabase();
let domainId: number;
beforeEach(async () => {
  domainId = (await newDomain(db, await newAccount(db, 'me@example.org'))).id;
  await query`update domain_checks set current_ns = array['ns1.example.net.']`;
  await noteCheckedDomains(db, [{ domainId, isByHand: false }]);
});

async function run(evidence: Partial<ChildEvidence> = {}, signal = new AbortController().signal) {
  const outcomes: ChildOutcome[] = [];
  const asked: ChildOptions[] = [];
  const check = createChildChecker({
    db,
    resolver: {
      async observeChild(_, options = {}) {
        asked.push(options);
        return madeChild(evidence);
      },
    },
    asnOf: undefined,
    onOutcome: (outcome) => void outcomes.push(outcome),
  });
  await check({ domainId }, { signal, again: false });
  return { outcome: outcomes[0], asked };
}

const silent = {
  soa: { outcome: 'timeout' },
  ns: { outcome: 'unasked' },
  tcp: { outcome: 'unasked' },
} as const;
const unreachable = {
  servers: [madeServer(OURS, ['5.3.0.1']), madeServer(parseName('ns2.example.net.'), ['5.4.0.1'])],
  addresses: [madeProbe('5.3.0.1', [OURS], silent)],
};

test('saves its findings, and schedules the next check', async () => {
  const { outcome, asked } = await run({
    servers: [madeServer(parseName('ns.other.test.'), ['5.3.0.1', '2a0b::1'])],
  });
  expect(outcome).toMatchObject({ kind: 'saved', name: 'example.com.' });
  expect(asked[0]?.own?.flat()).toContain(OURS);
  expect((await loadChildCheck(db, domainId))?.findings.map(({ code }) => code)).toEqual(['TOO_FEW_NAMES']);
  const hours = await value<number>`
    select extract(epoch from due_at - now()) / 3600 as hours from child_checks`;
  expect(Number(hours)).toBeLessThan(29);
});

test('unreachable nameservers of the fleet change no status, are hidden from customers and logged once', async () => {
  const before = await loadDomainById(db, domainId);
  const { outcome } = await run(unreachable);
  expect(await loadDomainById(db, domainId)).toEqual(before);
  expect(outcome).toMatchObject({ findings: [{ code: 'IPV4_ONLY' }, { code: 'OUR_SERVERS_UNREACHABLE' }] });
  const lines: object[] = [];
  const log = { info: () => {}, warn: () => {}, error: (fields: object) => void lines.push(fields) };
  const job = childJob({ registry: new Registry() } as JobTools, {
    asnOf: undefined,
    notes: new CheckNotes(),
  });
  for (let i = 0; i < 3; i++) job.log(log, outcome as ChildOutcome);
  expect(lines).toMatchObject([{ domain: 'example.com.', code: 'OUR_SERVERS_UNREACHABLE' }]);
});

test('a fault of a pool name is hidden from customers, as faults of sets are', async () => {
  await query`insert into settings (name, value) values
    ('NAMESERVER_POOL', ${JSON.stringify([['ns[1-4].a.example.'], ['ns[1-4].b.example.']])}::jsonb),
    ('NAMESERVER_ADDRESSES', ${JSON.stringify([['5.3.0.1'], ['5.4.0.1']])}::jsonb)`;
  const pool = [parseName('ns2.a.example.'), parseName('ns3.b.example.')] as const;
  const { outcome } = await run({
    servers: [
      madeServer(pool[0], ['5.3.0.1', '2a0b:3::1']),
      madeServer(pool[1], [], { found: { kind: 'none' } }),
    ],
    addresses: [madeProbe('5.3.0.1', [pool[0]])],
  });
  const told = (outcome as Extract<ChildOutcome, { kind: 'saved' }>).findings;
  expect(told.map(({ code, place, names }) => [code, place, names])).toContainEqual([
    'NS_WITHOUT_ADDRESS',
    'operator',
    [pool[1]],
  ]);
  expect(told.filter(({ place }) => place !== 'operator')).toEqual([]);
  expect((await loadDomainById(db, domainId))?.findings).toEqual([]);
});

test('an aborted run saves nothing; a deleted or undelegated domain is not checked, and not due', async () => {
  await expect(run({}, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop');
  expect(await loadChildCheck(db, domainId)).toBeUndefined();
  await query`update domain_checks set current_ns = '{}'`;
  const { outcome, asked } = await run();
  expect([outcome, asked]).toEqual([{ kind: 'absent' }, []]);
  expect(await query`select due_at as due from child_checks`).toEqual([{ due: null }]);
});
