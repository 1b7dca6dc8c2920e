// Delegations on real parts: a root and a TLD on NSD and Knot, our processes as an operator runs them, Unbound from the
// root down, dig. A parent is changed, and what the checks make of it is looked at from every side.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_SETTINGS } from '../support/database/database.ts';
import { HAS_REDIS, NEEDS_REDIS, type RedisServer, startRedis } from '../support/database/redis.ts';
import { freePort, isInstalled } from '../support/peers/peers.ts';
import { FLEET_SETS, NEEDS_PARENT, type RealParent, startRealParent } from '../support/peers/real-parent.ts';
import { dig, MOVED_AFTER_MS, RealFleet, type Replied } from '../support/processes/real-fleet.ts';
import type { WorkersProcess } from '../support/processes/workers-process.ts';
import { startTogether } from '../support/tests/start-together.ts';
import { until } from '../support/tests/until.ts';

const [FIRST_SET, SECOND_SET] = FLEET_SETS;
const FOREIGN = ['ns1.other.zz', 'ns2.other.zz'];
const EDGE = TEST_SETTINGS.edgeIpv4[0] as string;
const needs = NEEDS_PARENT || (isInstalled('dig') ? '' : ' (skipped: needs dig)');

/** Of an operator: their first checks are begun by workers that are killed. */
const ORPHANS = Array.from({ length: 12 }, (_, i) => `orphan${i}`);

describe.skipIf(needs !== '')(`a real parent and a real fleet${needs}`, () => {
  let parent: RealParent;
  let fleet: RealFleet;
  let workers: WorkersProcess;
  let redis: RedisServer | undefined;
  /** With its queue on Redis. */
  let second: RealFleet | undefined;

  beforeAll(async () => {
    parent = await startRealParent({
      shop: FOREIGN,
      small: FOREIGN,
      ...Object.fromEntries(ORPHANS.map((label) => [label, FIRST_SET])),
    });
    redis = HAS_REDIS ? await startRedis() : undefined;
    [fleet, second] = await startTogether<[RealFleet, RealFleet | undefined]>([
      RealFleet.start(parent, { answers: true }),
      redis && RealFleet.start(parent, { redisUrl: redis.url }),
    ]);
    const fleets = [fleet, ...(second === undefined ? [] : [second])];
    await Promise.all(fleets.map(createOrphans));
    parent.freeze();
    await Promise.all(fleets.map(killInTheMiddle));
    parent.thaw();
  });
  afterAll(async () => {
    await Promise.all([fleet?.stop(), second?.stop()]);
    await Promise.all([redis?.stop(), parent?.stop()]);
  });

  async function createOrphans({ api }: RealFleet): Promise<void> {
    for (const label of ORPHANS) {
      expect(await api.ask('POST', '/domains/', { name: `${label}.zz`, scan: false })).toMatchObject({
        status: 200,
      });
    }
  }

  async function killInTheMiddle(of: RealFleet): Promise<void> {
    const doomed = await of.startWorkers();
    await until(
      async () => (await doomed.metric('zonefleet_checks_running')) === ORPHANS.length,
      'all checks are under way',
    );
    await doomed.stop('SIGKILL');
  }

  const ours = () => parent.ours[0] as { address: string; port: number };
  const digOurs = (...words: string[]) => dig(ours(), '+norecurse', ...words);
  const look = (name: string) => fleet.get(`/domains/${name}`);

  /** The change that a check made of the status. */
  async function moveTo(status: string, name: string): Promise<Replied['body']> {
    const changes = await fleet.get(`/domains/${name}/changes`);
    return changes.find((change: Replied['body']) => change.status?.to === status);
  }

  async function expectMove(name: string, from: string, to: string, run: { id: number }): Promise<void> {
    expect(await moveTo(to, name)).toMatchObject({
      source: 'status',
      actor: { kind: 'system' },
      status: { from, to, check_id: run.id },
    });
  }

  describe('with the queue on Postgres', () => {
    it('answers only SOA and NS of an apex until a check has looked at its parent', async () => {
      expect(await fleet.ask('POST', '/domains/', { name: 'shop.zz', scan: false })).toMatchObject({
        status: 200,
        body: { status: 'pending', svc_ns_sets: FLEET_SETS },
      });
      expect(await look('shop.zz')).toMatchObject({ served: 'apex' });
      const www = { name: 'www', type: 'A', destination: '198.51.100.7', proxied: true };
      expect(await fleet.ask('POST', '/domains/shop.zz/records/', www)).toMatchObject({ status: 200 });
      await until(async () => (await digOurs('shop.zz', 'SOA')).status === 'NOERROR', 'the apex is served');
      const { status, flags, answer } = await digOurs('shop.zz', 'NS');
      expect([status, flags, answer]).toEqual(['NOERROR', ['qr', 'aa'], nsLines('shop.zz', FIRST_SET)]);
      expect(await digOurs('www.shop.zz', 'A')).toMatchObject({ status: 'REFUSED', answer: [] });
    });

    it('answers in full once a check has seen that the name points elsewhere', async () => {
      workers = await fleet.startWorkers();
      await second?.startWorkers();
      const [run] = await firstChecks('shop.zz');
      expect(run).toMatchObject({
        kind: 'background',
        verdict: 'foreign',
        parent: 'zz',
        status_before: 'pending',
        status_after: 'pending',
        current_ns: FOREIGN,
        findings: [{ code: 'NS_FOREIGN', names: FOREIGN }],
      });
      expect(run.evidence.map(({ server }: { server: string }) => server).sort()).toEqual([
        'a.nic.zz',
        'b.nic.zz',
      ]);
      for (const said of run.evidence) {
        expect(said).toMatchObject({ outcome: 'referral', aa: false, transport: 'udp', ns: FOREIGN });
      }
      expect(await look('shop.zz')).toMatchObject({
        status: 'pending',
        served: 'full',
        current_ns: FOREIGN,
        ns_check_interval_seconds: 60,
        findings: [{ code: 'NS_FOREIGN' }],
      });
      await until(async () => (await digOurs('www.shop.zz', 'A')).status === 'NOERROR', 'www is served');
      expect((await digOurs('www.shop.zz', 'A')).answer).toEqual([`www.shop.zz. A ${EDGE}`]);
    });

    it('becomes active when the parent names one accepted set', async () => {
      await parent.delegate({ shop: [...FIRST_SET].reverse() });
      const run = await fleet.checksUntil('shop.zz', ({ status_after }) => status_after === 'active');
      expect(run).toMatchObject({
        kind: 'background',
        verdict: 'match',
        matched_set: FIRST_SET,
        current_ns: FIRST_SET,
        status_before: 'pending',
        findings: [],
      });
      await expectMove('shop.zz', 'pending', 'active', run);
      expect(await look('shop.zz')).toMatchObject({
        status: 'active',
        served: 'full',
        svc_ns: FIRST_SET,
        current_ns: FIRST_SET,
        ns_check_interval_seconds: 43_200,
        findings: [],
      });
      expect((await digOurs('shop.zz', 'NS')).answer).toEqual(nsLines('shop.zz', FIRST_SET));
      const { code, stdout } = await fleet.cli('check', 'shop.zz');
      expect([code, stdout]).toEqual([
        0,
        expect.stringContaining(
          '\nVerdict match: delegated to exactly one accepted set (said by 2 addresses)\n',
        ),
      ]);
    });

    it('is found by Unbound, from the root through the TLD', async (context) => {
      if (!isInstalled('unbound')) context.skip('needs unbound');
      if (!parent.has53) context.skip('needs port 53');
      const unbound = await startUnbound(parent);
      try {
        const found = await until(async () => {
          const asked = await dig(unbound.place, 'www.shop.zz', 'A').catch(() => undefined);
          return asked?.status === 'NOERROR' && asked;
        }, 'Unbound answers');
        expect(found.flags).toEqual(['qr', 'rd', 'ra']);
        expect(found.answer).toEqual([`www.shop.zz. A ${EDGE}`]);
        expect((await dig(unbound.place, 'nothing.shop.zz', 'A')).status).toBe('NXDOMAIN');
      } finally {
        await unbound.stop();
      }
    });

    it('is moved when three checks over the set time miss it, and is answered on', async () => {
      await parent.delegate({ shop: FOREIGN });
      const miss = await fleet.checksUntil('shop.zz', ({ verdict }) => verdict === 'foreign');
      expect(miss).toMatchObject({ status_before: 'active', status_after: 'active' });
      expect(await look('shop.zz')).toMatchObject({ status: 'active', ns_check_interval_seconds: 3600 });
      const run = await fleet.checksUntil('shop.zz', ({ status_after }) => status_after === 'moved');
      expect(run).toMatchObject({ verdict: 'foreign', status_before: 'active' });
      const [last, first] = await fleet.get('/domains/shop.zz/checks?limit=2');
      expect([last.id, first.id]).toEqual([run.id, miss.id]);
      expect(first.repeated + 2).toBeGreaterThanOrEqual(3);
      expect(Date.parse(last.finished_at) - Date.parse(first.finished_at)).toBeGreaterThanOrEqual(
        MOVED_AFTER_MS,
      );
      await expectMove('shop.zz', 'active', 'moved', run);
      expect(await look('shop.zz')).toMatchObject({
        status: 'moved',
        served: 'full',
        current_ns: FOREIGN,
        findings: [{ code: 'NS_FOREIGN' }],
      });
      expect((await digOurs('www.shop.zz', 'A')).answer).toEqual([`www.shop.zz. A ${EDGE}`]);
      expect((await fleet.cli('check', 'shop.zz')).code).toBe(1);
    });

    it('is active again with one match, here of an operator, and at another set', async () => {
      await parent.delegate({ shop: SECOND_SET });
      const { code, stdout } = await fleet.cli('domain', 'check', 'shop.zz');
      const [run] = await fleet.get('/domains/shop.zz/checks?limit=1');
      expect(run).toMatchObject({ kind: 'operator', verdict: 'match', matched_set: SECOND_SET });
      expect([code, stdout.split('\n')[0]]).toEqual([
        0,
        `checked shop.zz match status moved -> active check ${run.id}`,
      ]);
      await expectMove('shop.zz', 'moved', 'active', run);
      expect(await look('shop.zz')).toMatchObject({
        status: 'active',
        svc_ns: SECOND_SET,
        current_ns: SECOND_SET,
        findings: [{ code: 'NS_UNSTEADY' }],
      });
      await until(
        async () => (await digOurs('shop.zz', 'NS')).answer.join() === nsLines('shop.zz', SECOND_SET).join(),
        'the set that the parent names is answered',
      );
    });
  });

  describe.skipIf(!HAS_REDIS)(`with the queue on Redis${NEEDS_REDIS}`, () => {
    const there = () => second as RealFleet;

    it('a domain becomes active too', async () => {
      expect(await there().ask('POST', '/domains/', { name: 'small.zz', scan: false })).toMatchObject({
        status: 200,
        body: { status: 'pending' },
      });
      await until(async () => (await there().get('/domains/small.zz')).served === 'full', 'it is checked');
      await parent.delegate({ small: FIRST_SET });
      const run = await there().checksUntil('small.zz', ({ status_after }) => status_after === 'active');
      expect(run).toMatchObject({ kind: 'background', verdict: 'match', current_ns: FIRST_SET });
    });

    it('while Redis is away a check is refused and does not use up the hour', async () => {
      const all = async () => [
        await there().get('/domains/small.zz'),
        await there().get('/domains/small.zz/checks'),
        await there().get('/domains/small.zz/changes'),
      ];
      await expectOrphansChecked(there()); // what is in Redis only is lost with it
      const before = await all();
      await redis?.stop();
      for (let i = 0; i < 2; i++) {
        const refused = await there().ask('POST', '/domains/small.zz/ns-check');
        expect(refused).toMatchObject({ status: 503, body: { error: expect.any(String) } });
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      expect(await all()).toEqual(before);
      redis = await startRedis((redis as RedisServer).port);
      const checked = await until(async () => {
        const answered = await there().ask('POST', '/domains/small.zz/ns-check');
        return answered.status !== 503 && answered;
      }, 'Redis is back');
      expect(checked).toMatchObject({ status: 200, body: { check: { kind: 'manual', verdict: 'match' } } });
      expect(await there().ask('POST', '/domains/small.zz/ns-check')).toMatchObject({ status: 429 });
    });
  });

  it('what workers were at when they were killed is checked by others, each once', async () => {
    await expectOrphansChecked(fleet);
    expect(await workers.metric('zonefleet_queue_jobs{queue="check-delegation",state="dead"}')).toBe(0);
  });

  async function firstChecks(name: string): Promise<Replied['body']> {
    return await until(async () => {
      const runs = await fleet.get(`/domains/${name}/checks?evidence=true`);
      return runs.length > 0 && runs;
    }, `${name} is checked`);
  }
});

/** Lost work is found after the 20 s of a lock. */
async function expectOrphansChecked({ api }: RealFleet): Promise<void> {
  const names = ORPHANS.map((label) => `${label}.zz`);
  await until(async () => {
    const { body } = await api.ask('GET', '/domains/?limit=100');
    return names.every((name) =>
      body.some((one: Replied['body']) => one.name === name && one.status === 'active'),
    );
  }, 'all are active');
  for (const name of names) {
    const { body: runs } = await api.ask('GET', `/domains/${name}/checks`);
    expect(runs).toEqual([
      expect.objectContaining({ verdict: 'match', repeated: 0, status_after: 'active' }),
    ]);
    const { body: changes } = await api.ask('GET', `/domains/${name}/changes`);
    const moves = changes.filter((change: Replied['body']) => change.status?.to === 'active');
    expect(moves).toEqual([
      expect.objectContaining({ status: expect.objectContaining({ check_id: runs[0].id }) }),
    ]);
  }
}

function nsLines(name: string, set: readonly string[]): string[] {
  return set.map((server) => `${name}. NS ${server}.`);
}

/** It begins at the root, and asks port 53. */
async function startUnbound({
  rootHints,
}: RealParent): Promise<{ place: { address: string; port: number }; stop(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'zonefleet-unbound-'));
  const place = { address: '127.0.0.1', port: await freePort() };
  await writeFile(join(directory, 'root.hints'), rootHints);
  const config = [
    'server:',
    ` interface: ${place.address}@${place.port}`,
    ' outgoing-interface: 127.0.0.1',
    ' do-not-query-localhost: no',
    ` root-hints: "${directory}/root.hints"`,
    ' qname-minimisation: yes',
    ' use-caps-for-id: yes',
    ' module-config: "iterator"',
    ' num-threads: 1',
    ' do-daemonize: no',
    ' use-syslog: no',
    ' username: ""',
    ' chroot: ""',
    ` directory: "${directory}"`,
    ` pidfile: "${directory}/unbound.pid"`,
    ` logfile: "${directory}/unbound.log"`,
    'remote-control:',
    ' control-enable: no',
    '',
  ];
  await writeFile(join(directory, 'unbound.conf'), config.join('\n'));
  const child: ChildProcess = spawn('unbound', ['-d', '-c', join(directory, 'unbound.conf')], {
    env: { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` },
    stdio: 'ignore',
  });
  const ended = new Promise((done) => child.once('exit', done));
  return {
    place,
    async stop() {
      if (child.kill('SIGTERM')) await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
