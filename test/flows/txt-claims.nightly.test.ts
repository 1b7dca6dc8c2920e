// What a TXT record does where two accounts want one name: it lets a waiting claim be answered whole before the switch, and in
// external mode it gives the name to who has it last. Real API, workers and nameserver, on a small internet of loopback addresses.

import { Resolver } from 'node:dns/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addVerifyCommand } from '../../src/cli/domain/verify.ts';
import { createApiKey, generateKey } from '../../src/store/accounts/api-keys.ts';
import { migrate } from '../../src/store/migrate/migrate.ts';
import { runCommands } from '../support/cli/run-commands.ts';
import { asRole, createDatabase, TEST_SETTINGS, type TestDatabase } from '../support/database/database.ts';
import { expectPublished, newAccount } from '../support/database/domains.ts';
import { type ApiProcess, startApi } from '../support/processes/api-process.ts';
import { type NodeProcess, startNode } from '../support/processes/nodes.ts';
import type { Asker, Replied } from '../support/processes/real-fleet.ts';
import { startWorkers, type WorkersProcess } from '../support/processes/workers-process.ts';
import { startTogether } from '../support/tests/start-together.ts';
import { until } from '../support/tests/until.ts';
import { type StartedWorld, startWorld } from '../support/world/fake-internet.ts';

const ELSEWHERE = ['ns1.dns.zz', 'ns2.dns.zz'];
const LABELS = ['shop', 'ext'] as const;
type Label = (typeof LABELS)[number];
type Body = Replied['body'];

interface Shown {
  /** What the parent names; by default the servers elsewhere. */
  readonly ns?: readonly string[];
  /** What each of the two servers elsewhere has at the challenge. */
  readonly txt?: readonly [readonly string[], readonly string[]];
}

/** A registry, and two servers that need not say the same. */
function worldText(shown: Partial<Record<Label, Shown>>): string {
  const apexes = [...LABELS.map((label) => `${label}.zz.`), 'dns.zz.'];
  const ns = (apex: string, names = ELSEWHERE as readonly string[]) =>
    names.map((name) => `  ${apex} NS ${name}.`);
  const glue = ['  ns1.dns.zz. A 127.0.1.3', '  ns2.dns.zz. A 127.0.1.4'];
  const of = (apex: string) => shown[apex.slice(0, -4) as Label];
  const challenge = (apex: string, i: number) =>
    (of(apex)?.txt?.[i] ?? []).map((value) => `  _svc-challenge.${apex} TXT "${value}"`);
  const lines = [
    '# A registry, and two servers elsewhere.',
    'server a.root. 127.0.1.1',
    '  serves .',
    'server a.nic.zz. 127.0.1.2',
    '  serves zz.',
    ...[0, 1].flatMap((i) => [
      `server ns${i + 1}.dns.zz. 127.0.1.${i + 3}`,
      `  serves ${apexes.map((apex) => `${apex}/at${i}`).join(' ')}`,
    ]),
    'zone .',
    '  . NS a.root.',
    '  a.root. A 127.0.1.1',
    '  zz. NS a.nic.zz.',
    '  a.nic.zz. A 127.0.1.2',
    'zone zz.',
    '  zz. NS a.nic.zz.',
    '  a.nic.zz. A 127.0.1.2',
    ...apexes.flatMap((apex) => ns(apex, of(apex)?.ns)),
    ...glue,
    ...apexes.flatMap((apex) =>
      [0, 1].flatMap((i) => [
        `zone ${apex} at${i}`,
        ...ns(apex),
        ...(apex === 'dns.zz.' ? glue : challenge(apex, i)),
      ]),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

describe('two accounts and a TXT record', () => {
  let world: StartedWorld;
  let database: TestDatabase;
  let api: ApiProcess;
  let workers: WorkersProcess;
  let node: NodeProcess;
  let ann: Asker;
  let bob: Asker;
  let shown: Partial<Record<Label, Shown>> = {};

  beforeAll(async () => {
    world = await startWorld({ text: worldText({}) });
    database = await createDatabase();
    await migrate(database.db, {
      ...TEST_SETTINGS,
      nameserverPool: [['ns[1-8].a.example.'], ['ns[1-8].b.example.']],
      nameserverAddresses: [['192.0.2.53'], ['198.51.100.53']],
    });
    const settings = { ...world.settings, PUBLIC_RESOLVERS: '' };
    [api, workers, node] = await startTogether<[ApiProcess, WorkersProcess, NodeProcess]>([
      startApi(database.url, { env: settings }),
      startWorkers(database.url, settings),
      startNode('txt', { DATABASE_URL: asRole(database.url, 'zonefleet_node') }),
    ]);
    [ann, bob] = [await account('ann'), await account('bob')];
  });
  afterAll(async () => {
    await Promise.all([api?.stop(), workers?.stop(), node?.stop()]);
    await database?.drop();
    await world?.close();
  });

  async function account(name: string): Promise<Asker> {
    const key = generateKey();
    const accountId = await newAccount(database.db, `${name}@example.org`);
    await createApiKey(database.db, key, { name, accountId });
    return async (method, path, body) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const sent = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
      const {
        status,
        headers: got,
        ...response
      } = await (async () => {
        const answer = await fetch(`${api.url}${path}`, sent);
        return { status: answer.status, headers: answer.headers, text: await answer.text() };
      })();
      return { status, headers: got, body: response.text === '' ? undefined : JSON.parse(response.text) };
    };
  }
  function show(label: Label, more: Shown): void {
    shown = { ...shown, [label]: { ...shown[label], ...more } };
    world.become({ text: worldText(shown) });
  }
  const create = async (who: Asker, label: Label, more: object): Promise<Body> => {
    const { status, body } = await who('POST', '/domains/', { name: `${label}.zz`, scan: false, ...more });
    expect([status, body.error]).toEqual([200, undefined]);
    return body;
  };
  const see = async (who: Asker, label: Label): Promise<Body> =>
    (await who('GET', `/domains/${label}.zz`)).body;
  const verify = async (who: Asker, label: Label): Promise<Body> =>
    (await who('POST', `/domains/${label}.zz/verify`)).body;
  const codes = (body: Body): string[] => body.findings.map(({ code }: { code: string }) => code);
  /** What the nameserver answers; a word for an error. */
  async function answered(name: string): Promise<string> {
    const resolver = new Resolver({ tries: 1, timeout: 5000 });
    resolver.setServers([`${node.address.address}:${node.address.port}`]);
    return (await resolver.resolve4(name).catch((error) => [String(error.code)])).join();
  }
  /** Checks and looks are made as if their time had come, and a turn as if it was over. */
  async function untilSeen(who: Asker, label: Label, words: string, isWanted: (body: Body) => boolean) {
    const ids = sql`(select id from domains where name = ${`${label}.zz.`} and deleted_at is null)`;
    let seen: Body;
    return await until(
      async () => {
        await sql`update domains set turn_from = turn_from - interval '15 minutes',
          turn_until = turn_until - interval '15 minutes' where id in ${ids}`.execute(database.db);
        await sql`update domain_checks set due_at = now(), next_at = now() where domain_id in ${ids}
          and due_at is not null`.execute(database.db);
        await sql`update domain_verifications set due_at = now(), next_at = now(),
          takeover_seen_at = takeover_seen_at - interval '10 minutes' where domain_id in ${ids}
          and due_at is not null`.execute(database.db);
        await new Promise((done) => setTimeout(done, 300));
        seen = await see(who, label);
        return isWanted(seen) && seen;
      },
      () => `${words}: ${JSON.stringify(seen)}`,
    );
  }

  it('a claim beside another one is answered whole in its turn once its record is found, and the parent’s word decides all the same', async () => {
    const anns = await create(ann, 'shop', {});
    const bobs = await create(bob, 'shop', {});
    await bob('POST', '/domains/shop.zz/records/', { name: 'www', type: 'A', destination: '192.0.2.2' });
    await ann('POST', '/domains/shop.zz/records/', { name: 'www', type: 'A', destination: '192.0.2.1' });
    const offered = await untilSeen(bob, 'shop', 'the record is offered', (body) =>
      codes(body).includes('PREPARE'),
    );
    const { value } = offered.verification;
    expect(offered).toMatchObject({
      status: 'pending',
      served: expect.not.stringMatching('full'),
      verification: { host: '_svc-challenge.shop.zz', verified: false },
    });
    expect(offered.findings.find(({ code }: { code: string }) => code === 'PREPARE').message).toContain(
      `name _svc-challenge.shop.zz, value ${value}`,
    );
    expect(await answered('www.shop.zz')).toBe('EREFUSED');

    show('shop', { txt: [[value], []] });
    expect((await verify(bob, 'shop')).verification).toMatchObject({ verified: false, found: 1, asked: 2 });
    show('shop', { txt: [[value], [value]] });
    const run = await runCommands(
      addVerifyCommand,
      ['verify', 'shop.zz', '--account', 'bob@example.org'],
      database.url,
    );
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(run.stdout).toMatch(/Verdict verified: .*\nStatus pending\n/);
    const found = await verify(bob, 'shop');
    expect(found).toMatchObject({
      status: 'pending',
      verification: { verified: true, found: 2, verified_until: expect.any(String) },
    });
    expect(codes(found)).not.toContain('PREPARE');
    // it has the next turn, and nobody who has no record answers for the name
    const whole = await untilSeen(bob, 'shop', 'it is answered whole', ({ served }) => served === 'full');
    expect(whole.status).toBe('pending');
    await until(async () => (await answered('www.shop.zz')) === '192.0.2.2', 'its records are answered');
    expect((await see(ann, 'shop')).served).toBe('none');

    show('shop', { ns: anns.svc_ns });
    const active = await untilSeen(ann, 'shop', 'the parent’s word', ({ status }) => status === 'active');
    expect(active.served).toBe('full');
    await until(
      async () => (await answered('www.shop.zz')) === '192.0.2.1',
      'the holder’s records are answered',
    );
    const lost = await see(bob, 'shop');
    expect([lost.status, lost.served, lost.verification, lost.svc_ns]).toEqual([
      'pending',
      'none',
      undefined,
      bobs.svc_ns,
    ]);
    expect((await bob('POST', '/domains/shop.zz/verify')).body).toMatchObject({ code: 'wrong_state' });
    await expectPublished(database.db, anns.id, bobs.id);
  });

  it('in external mode the name passes to the other account when its record is there and the holder’s is gone, in two looks', async () => {
    const { value: anns } = (await create(ann, 'ext', { dns_mode: 'external' })).verification;
    const made = await create(bob, 'ext', { dns_mode: 'external' });
    const { value: bobs } = made.verification;
    show('ext', { txt: [[anns], [anns]] });
    expect((await verify(ann, 'ext')).status).toBe('active');
    show('ext', { txt: [[anns, bobs], [bobs]] });
    const refused = await verify(bob, 'ext');
    expect([refused.status, refused.verification.verified, codes(refused)]).toEqual([
      'unverified',
      false,
      ['NAME_IN_USE'],
    ]);
    expect(codes(await see(ann, 'ext'))).toEqual([]);

    show('ext', { txt: [[bobs], [bobs]] });
    expect(codes(await verify(bob, 'ext'))).toEqual(['TAKEOVER_WAITS']);
    const warned = await see(ann, 'ext');
    expect([warned.status, codes(warned)]).toEqual(['active', ['TAKEOVER_SEEN']]);
    expect(codes(await verify(bob, 'ext'))).toEqual(['TAKEOVER_WAITS']); // not ten minutes later
    const taken = await untilSeen(bob, 'ext', 'the second look', ({ status }) => status === 'active');
    expect(codes(taken)).toEqual([]);
    const lost = await see(ann, 'ext');
    expect([lost.status, lost.status_reason.code, codes(lost)]).toEqual([
      'disabled',
      'claim_lost',
      ['CLAIM_LOST'],
    ]);
    const moves = await until(
      async () => (await workers.metric('zonefleet_transitions_total{from="active",to="disabled"}')) === 1,
      'it is counted',
    );
    expect(moves).toBe(true);
  });
});
