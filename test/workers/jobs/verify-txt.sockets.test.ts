import { randomUUID } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import type { Name } from '../../../src/dns/name.ts';
import type { VerifyJob } from '../../../src/jobs/jobs.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import {
  createVerifier,
  type VerifierOptions,
  type VerifyOutcome,
} from '../../../workers/jobs/verify-txt.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { startProxy } from '../../support/processes/tcp-proxy.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';
import { type SaidWorld, txtEvidenceOf, UNVERIFIED_MAX_MS } from '../../support/world/made-verifications.ts';

const { db, url, query } = keptDatabase();
let domainId: number;
let value: string;
let tests = 100; // three digits, so that all names have the same length
beforeEach(async () => {
  const accountId = await newAccount(db, `me${++tests}@example.org`);
  const domain = await newDomain(db, accountId, `example${tests}.com.`, { dnsMode: 'external' });
  domainId = domain.id;
  value = domain.verification?.value as string;
  await due();
});

const due = () =>
  query`update domain_verifications set due_at = now(), next_at = now() where domain_id = ${domainId}`;
const runs = async () => (await query`select from verification_runs where domain_id = ${domainId}`).length;
const status = async () => (await loadDomainById(db, domainId))?.status;

function verifier(said: (host: Name) => SaidWorld | Promise<SaidWorld>, rest: Partial<VerifierOptions> = {}) {
  const outcomes: VerifyOutcome[] = [];
  const run = createVerifier({
    db,
    resolver: { observeTxt: async (host) => txtEvidenceOf(host, await said(host)) },
    unverifiedMaxMs: UNVERIFIED_MAX_MS,
    onOutcome: (outcome) => void outcomes.push(outcome),
    ...rest,
  });
  return {
    outcomes,
    async run(job: Partial<VerifyJob> = {}, { signal = new AbortController().signal, again = false } = {}) {
      await run({ domainId, kind: 'background', ...job }, { signal, again });
      return outcomes.at(-1) as VerifyOutcome;
    },
  };
}
const absent = () => verifier(() => ({ servers: ['nxdomain', 'nxdomain'] }));

test('it queries the challenge’s name and reports the outcome', async () => {
  const asked: Name[] = [];
  const made = verifier((host) => {
    asked.push(host);
    return { servers: [[value], [value]] };
  });
  expect(await made.run()).toMatchObject({
    kind: 'saved',
    name: `example${tests}.com.`,
    verdict: 'verified',
    transition: { from: 'unverified', to: 'active' },
  });
  expect(asked).toEqual([`\x0e_svc-challenge\x0aexample${tests}\x03com\0`]);
  expect(await status()).toBe('active');
});

test('the value that the fleet’s own servers return for an unproved claim proves nothing', async () => {
  const nameservers = ['ns1.example.net.', 'ns2.example.net.'];
  const made = verifier(() => ({ servers: [[value], [value]], nameservers }));
  expect(await made.run()).toMatchObject({ verdict: 'untrusted', transition: undefined });
  expect(await status()).toBe('unverified');
});

test('the job of a deleted or proved domain ends without an error', async () => {
  const made = verifier(() => ({ servers: [[value]] }));
  await made.run();
  expect(await made.run({ kind: 'manual', request: randomUUID() })).toMatchObject({ kind: 'absent' });
  await deleteDomain(db, { ...BY, domainId });
  expect(await made.run()).toMatchObject({ kind: 'absent' });
  expect(await made.run({ domainId: 999_999 })).toMatchObject({ kind: 'absent' });
});

test('a requested one runs even if it is not due; a job that runs twice counts once', async () => {
  const made = absent();
  expect(await made.run()).toMatchObject({ kind: 'saved' });
  expect(await made.run({}, { again: true })).toMatchObject({ kind: 'early' });
  expect(await runs()).toBe(1);
  const request = randomUUID();
  expect(await made.run({ kind: 'manual', request })).toMatchObject({ kind: 'saved' });
  expect(await made.run({ kind: 'manual', request }, { again: true })).toMatchObject({ kind: 'repeated' });
  expect(await runs()).toBe(2);
});

test('after another one was saved meanwhile, it is repeated for a caller that waits, but not for the schedule', async () => {
  let meanwhile = async () => {};
  const made = verifier(async () => {
    await meanwhile();
    return { servers: ['nxdomain'] };
  });
  const other = absent();
  const once = async () => {
    meanwhile = async () => {};
    await other.run({ kind: 'operator', request: randomUUID() });
  };
  meanwhile = once;
  expect(await made.run()).toMatchObject({ kind: 'conflict' });
  meanwhile = once;
  expect(await made.run({ kind: 'manual', request: randomUUID() })).toMatchObject({ kind: 'saved' });
  expect(await runs()).toBe(3);
});

test('an aborted run is not saved; an internal error fails the job while Postgres is available', async () => {
  const abort = new AbortController();
  const made = verifier(() => {
    if (abort.signal.aborted) throw new TypeError('a bug');
    abort.abort();
    return { servers: ['timeout'] };
  });
  await expect(made.run({}, { signal: abort.signal })).rejects.toThrow('aborted');
  await expect(made.run()).rejects.toThrow('a bug');
  expect([await runs(), made.outcomes]).toEqual([0, []]);
});

test('waits while Postgres is unavailable, restarts automatically, and counts once', async () => {
  const proxy = await startProxy(url);
  const db = openDatabase(proxy.url, { connectTimeoutMs: 1000 });
  try {
    let looks = 0;
    const made = verifier(
      () => {
        if (looks++ === 0) proxy.cut();
        return { servers: [[value], [value]] };
      },
      { db },
    );
    const running = made.run();
    await until(() => proxy.refused() > 1);
    proxy.resume();
    expect(await running).toMatchObject({ kind: 'saved', transition: { to: 'active' } });
    expect([looks, await runs(), await status()]).toEqual([2, 1, 'active']);
  } finally {
    await db.destroy();
    await proxy.stop();
  }
});
