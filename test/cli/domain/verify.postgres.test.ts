import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { addVerifyCommand } from '../../../src/cli/domain/verify.ts';
import { migrateQueue } from '../../../src/queue/connection.ts';
import { type JobWorker, runJobWorker } from '../../../src/queue/job-worker.ts';
import { VERIFY_TXT } from '../../../src/queue/jobs.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { makeVerification, type SaidWorld } from '../../support/world/made-verifications.ts';

let said: SaidWorld;
const database = sharedDatabase();
let worker: JobWorker;
let domainId: number;
let value: string;

beforeAll(async () => {
  const place = { databaseUrl: database.url, redisUrl: undefined };
  await migrateQueue(place);
  const run = async (job: { domainId: number }) =>
    void (await makeVerification(database.db, job, () => said));
  worker = runJobWorker(place, VERIFY_TXT, run, { concurrency: 4, onTrouble: () => {}, onFailed: () => {} });
});
afterAll(async () => {
  await worker?.stop(1000);
});
beforeEach(async () => {
  const accountId = await newAccount(database.db, 'ann@shop.example');
  const domain = await newDomain(database.db, accountId, 'shop.com.', { dnsMode: 'external' });
  domainId = domain.id;
  value = domain.verification?.value as string;
});

const run = (...args: string[]) => runCommands(addVerifyCommand, ['verify', ...args], database.url);

it('has workers look, and shows what each server said', async () => {
  said = { servers: [[value], 'nxdomain', ['other'], 'timeout'] };
  const { code, stdout, stderr } = await run('Shop.COM.');
  expect([code, stderr]).toEqual([1, '']);
  expect(stdout.replace(value, 'VALUE').replace(value, 'VALUE').split('\n')).toEqual([
    'shop.com',
    expect.stringMatching(/^ {2}_svc-challenge\.shop\.com {2}TXT {2}VALUE {2}\(until \d{4}-.*Z\)$/),
    '',
    expect.stringMatching(/^The servers of it \(1 of 4 have it, \d+\.\d s\)$/),
    expect.stringMatching(/^ {2}SERVER +ADDRESS +OUTCOME +TXT$/),
    '  ns1.dns.test  192.0.2.1  found    "VALUE"',
    '  ns2.dns.test  192.0.2.2  absent   -',
    '  ns3.dns.test  192.0.2.3  other    "other"',
    '  ns4.dns.test  192.0.2.4  error    -',
    '',
    'Public resolvers, which decide nothing',
    '  ADDRESS        OUTCOME',
    '  198.51.100.53  absent',
    '',
    expect.stringMatching(/^Verdict partial: .*1 of 4/),
    'Status unverified',
    '',
  ]);
});

it('exits with 0 once it is verified, and stays so', async () => {
  said = { servers: [[value], [value]] };
  const first = await run('shop.com');
  expect([first.code, first.stdout.trimEnd().split('\n').at(-1)]).toEqual([0, 'Status unverified -> active']);
  said = { servers: ['nxdomain'] };
  const again = await run('shop.com');
  expect([again.code, again.stdout.trimEnd().split('\n').at(-1)]).toEqual([0, 'Status active']);
});

it('as JSON has the run and its evidence', async () => {
  said = { servers: ['nxdomain', [value]] };
  const { code, stdout } = await run('shop.com', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    domain: 'shop.com',
    outcome: 'not_verified',
    status: 'unverified',
    host: '_svc-challenge.shop.com',
    value,
    verified: false,
    next_attempt_at: expect.stringMatching(/Z$/),
    verification: {
      verdict: 'partial',
      found: 1,
      asked: 2,
      servers: [
        { server: 'ns1.dns.test', address: '192.0.2.1', outcome: 'absent' },
        { server: 'ns2.dns.test', address: '192.0.2.2', outcome: 'found', values: [value] },
      ],
      evidence: { links: [{ zone: 'shop.com.' }] },
    },
  });
});

it('renews a value that has expired', async () => {
  await sql`update domain_verifications set expires_at = now()`.execute(database.db);
  const { code, stdout } = await run('shop.com');
  expect(code).toBe(1);
  expect(stdout).not.toContain(value);
  expect(stdout).toMatch(/TXT {2}svc-verify=[a-z2-7]{32} .*\n\nThe value before has expired/);
});

it('refuses what is not to be verified', async () => {
  const accountId = await newAccount(database.db, 'bob@shop.example');
  await newDomain(database.db, accountId, 'managed.com.');
  await changeStatus(database.db, { ...BY, domainId, event: 'ban' });
  expect(await run('shop.com')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'shop.com: the domain is banned: it is not verified\n',
  });
  expect(await run('managed.com')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('managed mode'),
  });
  expect(JSON.parse((await run('absent.com', '--json')).stdout)).toEqual({
    domain: 'absent.com',
    outcome: 'refused',
    code: 'absent',
    message: 'no such domain',
  });
});

it('says when it was interrupted', async () => {
  await worker.stop(0); // nobody may look before the command sees the interrupt
  const interrupt = AbortSignal.abort();
  const { code, stderr } = await runCommands(addVerifyCommand, ['verify', 'shop.com'], database.url, {
    interrupt,
  });
  expect([code, stderr]).toEqual([130, 'shop.com: interrupted before anybody looked\n']);
});
