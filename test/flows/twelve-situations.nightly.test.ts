// What customers meet (docs/operating.md "What a customer sees, case by case"), case by case on one running fleet: a real parent, real
// nodes, API and workers, and a nameserver pool, so that each account has a set of its own.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../support/cli/run-cli.ts';
import { startSmtp, type TestSmtp } from '../support/mail/smtp.ts';
import { isInstalled } from '../support/peers/peers.ts';
import { NEEDS_PARENT, type RealParent, startRealParent } from '../support/peers/real-parent.ts';
import { type Asker, dig, MOVED_AFTER_MS, RealFleet, type Replied } from '../support/processes/real-fleet.ts';
import { until } from '../support/tests/until.ts';

const ELSEWHERE = ['ns1.other.zz', 'ns2.other.zz'];
const needs = NEEDS_PARENT || (isInstalled('dig') ? '' : ' (skipped: needs dig)');

type Body = Replied['body'];

describe.skipIf(needs !== '')(`what a customer meets${needs}`, () => {
  let smtp: TestSmtp;
  let parent: RealParent;
  let fleet: RealFleet;
  let ann: Asker;
  let bob: Asker;
  /** The nameservers of their accounts. */
  let anns: string[];
  let bobs: string[];
  let label: string;
  let name: string;
  let made = 0;

  beforeAll(async () => {
    smtp = await startSmtp();
    parent = await startRealParent({}, { isSigned: true });
    fleet = await RealFleet.start(parent, {
      answers: true,
      hasPool: true,
      env: { SMTP_URL: smtp.url, MAIL_FROM: 'zonefleet@fleet.zz' },
    });
    ann = await fleet.newAccount('ann@example.org');
    bob = await fleet.newAccount('bob@example.org');
    anns = (await ann('GET', '/domains/ns-sets')).body[0];
    bobs = (await bob('GET', '/domains/ns-sets')).body[0];
    await fleet.startWorkers();
  });
  afterAll(async () => {
    await fleet?.stop();
    await parent?.stop();
    await smtp?.stop();
  });

  const fresh = () => {
    label = `case${++made}`;
    name = `${label}.zz`;
  };
  const shows = (names: readonly string[] | null) => parent.delegate({ [label]: names });
  const create = (who: Asker, more: object = {}) => who('POST', '/domains/', { name, scan: false, ...more });
  const see = async (who: Asker): Promise<Body> => (await who('GET', `/domains/${name}`)).body;
  const codes = (body: Body): string[] => body.findings.map(({ code }: { code: string }) => code);
  /** Without the advice about the nameservers themselves, which comes from other checks. */
  const codesOfClaim = (body: Body) =>
    codes(body).filter((code) => /^(NS_|NAME_|NOT_|TAKEOVER|CLAIM|PRESET|STALE)/.test(code));
  const message = (body: Body, code: string): string =>
    body.findings.find((each: { code: string }) => each.code === code)?.message;

  /** The name is due, and was checked last a minute ago: the schedule checks a name for several claims only so often. */
  async function passTime(alsoSets: string): Promise<void> {
    const claims = sql`select id from domains where name = ${`${name}.`} and deleted_at is null`;
    const { db } = fleet.database;
    // One row at a time: a worker that saves a check of several claims locks theirs in an order of its own.
    const { rows } = await sql<{ id: number }>`
      select last_run_id as id from domain_checks where last_run_id is not null and domain_id in (${claims})`.execute(
      db,
    );
    for (const { id } of rows)
      await sql`update check_runs set last_seen_at = last_seen_at - interval '1 minute' where id = ${id}`.execute(
        db,
      );
    const checks = await sql<{ id: number }>`
      select domain_id as id from domain_checks where domain_id in (${claims})`.execute(db);
    for (const { id } of checks.rows)
      await sql`update domain_checks set due_at = now(), next_at = now(), ${sql.raw(alsoSets)} where domain_id = ${id}`.execute(
        db,
      );
  }

  /** Checks of the name, each as if its time had come, until the domain is as wanted. */
  async function untilSeen(who: Asker, words: string, isWanted: (body: Body) => boolean): Promise<Body> {
    let seen: Body;
    return await until(
      async () => {
        await passTime("takeover_seen_at = takeover_seen_at - interval '2 minutes'");
        await new Promise((done) => setTimeout(done, 300));
        seen = await see(who);
        return isWanted(seen) && seen;
      },
      () => `${words}: ${JSON.stringify(seen)}`,
    );
  }
  const untilStatus = (who: Asker, status: string) =>
    untilSeen(who, `${name} is ${status}`, (body) => body.status === status);
  const untilFinding = (who: Asker, code: string) =>
    untilSeen(who, `${name} has ${code}`, (body) => codes(body).includes(code));
  const activate = async (who: Asker, set: readonly string[]) => {
    await shows(set);
    expect((await create(who)).status).toBe(200);
    await untilStatus(who, 'active');
  };
  const publish = (who: Asker, destination: string) =>
    who('POST', `/domains/${name}/records/`, { name: '@', type: 'A', destination });
  const digged = async () =>
    (await dig(parent.ours[0] as { address: string; port: number }, '+norecurse', name, 'A')).answer;

  it('gives each account nameservers of its own', () => {
    expect(anns).toHaveLength(2);
    expect(anns).not.toEqual(bobs);
  });

  it('1: a live domain that moves in is active when the parent shows the set', async () => {
    fresh();
    await shows(ELSEWHERE);
    const created = await create(ann);
    expect([created.body.status, created.body.svc_ns]).toEqual(['pending', anns]);
    const told = message(await untilFinding(ann, 'NS_FOREIGN'), 'NS_FOREIGN');
    expect(told).toContain(`exactly ${anns.join(' and ')}`);
    await publish(ann, '192.0.2.1');
    // nothing points here, so its records can be tried out before the switch
    await until(async () => (await digged()).join() === `${name}. A 192.0.2.1`, 'the record is answered');
    await shows(anns);
    expect(codesOfClaim(await untilStatus(ann, 'active'))).toEqual([]);
  });

  it('2: set at the registrar first and created later, it is active at the first check', async () => {
    fresh();
    await shows(anns);
    expect((await create(ann)).body.status).toBe('pending');
    await until(async () => (await see(ann)).status === 'active', 'the first check makes it active');
  });

  it('3: a name that points at nameservers of ours which are not the account’s is not answered', async () => {
    fresh();
    await shows(bobs);
    await create(ann);
    await publish(ann, '192.0.2.3');
    const body = await untilFinding(ann, 'PRESET_DELEGATION');
    expect(body).toMatchObject({ status: 'pending', served: 'apex' });
    expect(message(body, 'PRESET_DELEGATION')).toContain(`set exactly ${anns.join(' and ')} instead of`);
    expect(await digged()).toEqual([]);
  });

  it('4, 5, 6: a name that another account uses passes at the parent’s word alone, and comes back by it', async () => {
    fresh();
    await activate(ann, anns);
    await publish(ann, '192.0.2.4');
    const refused = await create(bob);
    expect([refused.status, refused.body.code]).toEqual([409, 'domain_taken']);
    expect((await create(bob, { transfer: true })).body.status).toBe('pending');
    expect(await see(bob)).toMatchObject({ status: 'pending', served: 'none' });
    const waiting = await untilFinding(bob, 'NAME_IN_USE');
    expect(message(waiting, 'NAME_IN_USE')).toContain(`exactly ${bobs.join(' and ')}`);
    // 5: the holder meets nothing of a claim
    const untouched = await see(ann);
    expect(untouched).toMatchObject({ status: 'active', served: 'full' });
    expect(codesOfClaim(untouched)).toEqual([]);
    // 4 and 6: the parent shows the other set
    await shows(bobs);
    await until(async () => {
      await passTime('takeover_seen_at = takeover_seen_at');
      await new Promise((done) => setTimeout(done, 300));
      return codes(await see(ann)).includes('TAKEOVER_SEEN');
    }, 'the holder is warned');
    const warned = await see(ann);
    expect(warned).toMatchObject({ status: 'active', served: 'full' });
    expect(message(warned, 'TAKEOVER_SEEN')).toContain('secure your account at the registrar now');
    const mail = await until(
      () => smtp.taken.find(({ text }) => text.includes(name)),
      'the holder is mailed',
    );
    expect(mail.to).toBe('ann@example.org');
    expect(mail.text).toContain(`set exactly ${anns.join(' and ')} there`);
    await untilStatus(bob, 'active');
    expect(await see(ann)).toMatchObject({ status: 'disabled', served: 'none' });
    expect(codes(await see(ann))).toContain('CLAIM_LOST');
    await until(async () => (await digged()).length === 0, 'the other records are answered');
    // 6: set back, it is the first account's again by itself
    await shows(anns);
    await untilStatus(ann, 'active');
    expect((await see(bob)).status).toBe('disabled');
    await until(async () => (await digged()).join() === `${name}. A 192.0.2.4`, 'its records are back');
  });

  it('7: on hold, it is answered for a while, and is active when it is renewed; a stranger gains nothing', async () => {
    fresh();
    await activate(ann, anns);
    await shows(null);
    const moved = await until(async () => {
      await new Promise((done) => setTimeout(done, MOVED_AFTER_MS / 4));
      return untilSeen(ann, 'moved', ({ status }) => status === 'moved');
    }, 'it is moved');
    expect(moved).toMatchObject({ served: 'full', status_until: expect.any(String) });
    expect(moved.status_reason.message).not.toBe('');
    await create(bob, { transfer: true });
    await untilFinding(bob, 'NOT_REGISTERED');
    await shows(anns);
    await untilStatus(ann, 'active');
    expect((await see(bob)).status).toBe('pending');
  });

  it('8: dropped and registered by somebody else who comes here, it is theirs', async () => {
    fresh();
    await activate(ann, anns);
    await shows(null);
    await untilStatus(ann, 'moved');
    await create(bob, { transfer: true });
    await shows(bobs);
    await untilStatus(bob, 'active');
    const lost = await see(ann);
    expect(lost.status).toBe('disabled');
    expect(message(lost, 'CLAIM_LOST')).toContain('names the nameservers of another account');
  });

  it('9: strangers who claimed it before do not keep its owner away', async () => {
    fresh();
    await shows(ELSEWHERE);
    await create(bob);
    expect((await create(ann)).status).toBe(200);
    expect(await see(ann)).toMatchObject({ status: 'pending', svc_ns: anns });
    await shows(anns);
    await untilStatus(ann, 'active');
    expect((await see(bob)).status).toBe('pending');
  });

  it('10: with one of two names wrong it waits and names them', async () => {
    fresh();
    await shows([anns[0] as string, 'ns1.other.zz']);
    await create(ann);
    const body = await untilFinding(ann, 'NS_MISSING');
    expect(body.status).toBe('pending');
    expect(message(body, 'NS_MISSING')).toContain(`add the missing nameserver ${anns[1]}`);
    expect(message(body, 'NS_EXTRA')).toContain('remove the nameserver ns1.other.zz');
  });

  it('11: a delegation that comes and goes stays active, and its owner reads so', async () => {
    fresh();
    await activate(ann, anns);
    for (const _ of [1, 2]) {
      await shows(ELSEWHERE);
      await untilFinding(ann, 'NS_FOREIGN');
      await shows(anns);
      const back = await untilSeen(ann, 'back', (body) => !codes(body).includes('NS_FOREIGN'));
      expect(back).toMatchObject({ status: 'active', served: 'full' });
    }
    expect(message(await see(ann), 'NS_UNSTEADY')).toContain('changed its nameservers 4 times');
  });

  it('12: a DS of the old provider’s key keeps it from being active, and the old holder is answered on', async () => {
    fresh();
    await activate(ann, anns);
    await publish(ann, '192.0.2.12');
    await create(bob, { transfer: true });
    const digest = 'ab'.repeat(32);
    await parent.showDs(label, `31337 13 2 ${digest}`);
    await shows(bobs);
    const told = await untilFinding(bob, 'STALE_DS');
    expect(message(told, 'STALE_DS')).toContain('remove the DS records (key tags: 31337)');
    // What would hand the name over, twice, were it not for the DS.
    for (const _ of [1, 2]) expect((await untilFinding(bob, 'STALE_DS')).status).toBe('pending');
    expect(await see(ann)).toMatchObject({ status: 'active', served: 'full' });
    expect(await digged()).toEqual([`${name}. A 192.0.2.12`]);
    await parent.showDs(label, undefined);
    const active = await untilStatus(bob, 'active');
    expect(codesOfClaim(active)).toEqual([]);
    expect((await see(ann)).status).toBe('disabled');
  });

  it('an operator hands an active domain over: its delegation goes on to count, and it is answered as before', async () => {
    fresh();
    await activate(ann, anns);
    await publish(ann, '192.0.2.13');
    await until(async () => (await digged()).join() === `${name}. A 192.0.2.13`, 'the record is answered');
    const before = await see(ann);
    const args = ['domain', 'move', name, '--to', 'bob@example.org'];
    const moved = await runCli(args, { databaseUrl: fleet.database.url });
    expect([moved.code, moved.stderr]).toEqual([0, '']);
    expect((await ann('GET', `/domains/${name}`)).status).toBe(404);
    expect(await see(bob)).toMatchObject({
      id: before.id,
      status: 'active',
      serial: before.serial,
      svc_ns: anns,
    });
    // The next check, of a parent that shows the set of the old account.
    const checked = await bob('POST', `/domains/${name}/ns-check`);
    expect(checked.body).toMatchObject({
      status: 'active',
      serial: before.serial,
      check: { verdict: 'match' },
    });
    expect(codesOfClaim(checked.body)).toEqual([]);
    expect(await digged()).toEqual([`${name}. A 192.0.2.13`]);
    // By that set the old account gets nothing, however often the name is checked.
    expect((await create(ann, { transfer: true })).body.svc_ns).not.toEqual(anns);
    for (const _ of [1, 2]) {
      await passTime('takeover_seen_at = takeover_seen_at');
      expect((await untilFinding(ann, 'NAME_IN_USE')).status).toBe('pending');
    }
    expect(await see(bob)).toMatchObject({ status: 'active', served: 'full', serial: before.serial });
  });
});
