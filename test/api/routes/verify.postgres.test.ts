// test/api/actions/enqueue covers what all calls that wait for a worker have in common.

import { beforeEach, describe, expect, it } from 'vitest';
import type { VerifyJob } from '../../../src/jobs/jobs.ts';
import { ownApi, startTestApi, type TestApi } from '../../support/api/api.ts';
import { FakeQueue } from '../../support/api/fake-queue.ts';
import { checkOnce } from '../../support/database/saved-checks.ts';
import { makeVerification, type SaidWorld } from '../../support/world/made-verifications.ts';

const queue = new FakeQueue<VerifyJob>();
const seeing = (said: SaidWorld) => (job: VerifyJob) => makeVerification(api.database.db, job, () => said);
const ABSENT: SaidWorld = { servers: ['nxdomain', 'nxdomain'] };
const api = ownApi(() => startTestApi({ verifications: queue }));
let domains = 0;

beforeEach(() => {
  queue.reset();
  queue.work = seeing(ABSENT);
});

async function freshDomain(options: Parameters<TestApi['makeDomain']>[1] = { dnsMode: 'external' }) {
  const name = `v${++domains}.example`;
  const { id, verification } = await api.makeDomain(name, options);
  const path = `/domains/${name}`;
  return {
    id,
    name,
    path,
    value: verification?.value as string,
    read: async () => (await api.ask('GET', path)).body,
    verify: () => api.ask('POST', `${path}/verify`),
  };
}

it('GET verifications lists verifications with the servers’ responses and the change, newest first', async () => {
  const { value, verify, path } = await freshDomain();
  const list = () => api.ask('GET', `${path}/verifications`);
  expect(await list()).toMatchObject({ status: 200, body: [] });
  await verify();
  queue.work = seeing({ servers: [[value], [value]] });
  await verify();
  const [change] = (await api.ask('GET', `${path}/changes?limit=1`)).body;
  expect(change).toMatchObject({
    source: 'status',
    actor: { kind: 'system' },
    status: { from: 'unverified', to: 'active' },
  });
  const { body } = await list();
  const servers = [{ outcome: 'absent' }, { outcome: 'absent' }];
  expect(body).toMatchObject([
    { verdict: 'verified', found: 2, asked: 2, value, kind: 'manual', change_id: change.id },
    { verdict: 'absent', found: 0, asked: 2, value, servers },
  ]);
  expect(body[1]).not.toHaveProperty('change_id');
});

describe('POST verify', () => {
  it('returns the active domain with the response of every server, like GET', async () => {
    const { id, name, value, verify, read } = await freshDomain();
    queue.work = seeing({ servers: [[value], ['v=spf1 -all', value], 'timeout'] });
    const { status, body } = await verify();
    expect(status).toBe(200);
    expect(body).toMatchObject({ id, name, status: 'active', dns_mode: 'external', served: 'none' });
    expect(body.verification).toEqual({
      host: `_svc-challenge.${name}`,
      type: 'TXT',
      value,
      verified: true,
      expires_at: expect.stringMatching(/Z$/),
      seconds_remaining: expect.any(Number),
      checked_at: expect.stringMatching(/Z$/),
      found: 2,
      asked: 3,
      servers: [
        { server: 'ns1.dns.test', address: '192.0.2.1', outcome: 'found', values: [value] },
        { server: 'ns2.dns.test', address: '192.0.2.2', outcome: 'found', values: ['v=spf1 -all', value] },
        { server: 'ns3.dns.test', address: '192.0.2.3', outcome: 'error' },
      ],
      resolvers: [{ address: '198.51.100.53', outcome: 'absent' }],
      message: expect.stringContaining('2 of 3'),
    });
    const request = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(queue.jobs).toEqual([{ domainId: id, kind: 'manual', request, turn: 1 }]);
    const { seconds_remaining: _, ...shown } = (await read()).verification;
    expect(body.verification).toMatchObject(shown);
    // An active domain is not looked up again.
    expect((await verify()).body.verification).toMatchObject(shown);
    expect(queue.jobs).toHaveLength(1);
  });

  it('returns 200 and the time of the next attempt if it finds nothing', async () => {
    const { name, verify, read } = await freshDomain();
    const unasked = { found: 0, asked: 0, servers: [], resolvers: [] };
    expect((await read()).verification).toMatchObject(unasked);
    const beforeMs = Date.now();
    const { status, body } = await verify();
    expect([status, body.status]).toEqual([200, 'unverified']);
    expect(body.verification).toMatchObject({
      verified: false,
      found: 0,
      asked: 2,
      message: expect.stringContaining('None of 2'),
    });
    const next = Date.parse(body.verification.next_attempt_at);
    expect(next).toBeGreaterThan(beforeMs + 40_000);
    expect(next).toBeLessThan(Date.now() + 80_000);
    const { body: items } = await api.ask('GET', `/domains/?search=${name}`);
    expect(items[0].verification).not.toHaveProperty('servers');
  });

  it('replaces an expired value, and does not look up the new one yet', async () => {
    const { id, value, verify } = await freshDomain();
    await verify();
    await api.query`update domain_verifications set expires_at = now() where domain_id = ${id}`;
    const { status, body } = await verify();
    expect([status, body.status, queue.jobs.length]).toEqual([200, 'unverified', 1]);
    expect(body.verification).toMatchObject({ verified: false, found: 0, asked: 0, servers: [] });
    expect(body.verification.value).not.toBe(value);
    expect(body.verification.seconds_remaining).toBeGreaterThan(13 * 86_400);
    expect(body.verification).not.toHaveProperty('checked_at');
    queue.work = seeing({ servers: [[value], [value]] });
    expect((await verify()).body.verification).toMatchObject({ verified: false, found: 0, asked: 2 });
  });

  it('looks up the TXT record that a pending managed domain may publish', async () => {
    const name = `v${++domains}.example`;
    const body = { name, scan: false };
    const { body: made } = await api.ask('POST', '/domains/', { body });
    await api.ask('POST', '/domains/', { body, as: 'stranger' });
    await checkOnce(api.database.db, made.id, 'referral ns1.other. ns2.other.');
    const { verification, findings } = (await api.ask('GET', `/domains/${name}`)).body;
    const { value } = verification;
    const message = expect.stringContaining(`name _svc-challenge.${name}, value ${value}`);
    expect(findings).toContainEqual({ code: 'PREPARE', message });
    queue.work = seeing({ servers: [[value], [value]] });
    expect((await api.ask('POST', `/domains/${name}/verify`)).body).toMatchObject({
      status: 'pending',
      served: 'full',
      verification: { verified: true, found: 2, verified_until: expect.stringMatching(/Z$/) },
      findings: expect.not.arrayContaining([expect.objectContaining({ code: 'PREPARE' })]),
    });
  });

  it('responds 429 after a hundred requests of the account within a minute', async () => {
    const { verify } = await freshDomain();
    await verify();
    // The count decreases until the call.
    await api.query`update check_shares set manual = 150`;
    expect(await verify()).toMatchObject({ status: 429, headers: { 'retry-after': '60' } });
    expect(queue.jobs).toHaveLength(1);
    await api.query`delete from check_shares`;
  });

  it('is refused in managed mode', async () => {
    const { verify } = await freshDomain({ dnsMode: 'managed' });
    expect(await verify()).toMatchObject({ status: 400, body: { code: 'wrong_state' } });
    expect(queue.jobs).toEqual([]);
  });
});
