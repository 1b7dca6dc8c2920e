// Four networks, each with its own view of a small internet (docs/rules.md "Vantage points"): the workers stand in one, an
// observer in each of the others. Real processes: API, workers, three observers, Postgres. One network sees a lying registry.

import type { KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addVantageCommands } from '../../src/cli/vantage/vantage.ts';
import { makeVantageKey, readPrivateKey, signVantageRequest } from '../../src/process/vantage-signature.ts';
import { runCommands } from '../support/cli/run-commands.ts';
import { type ObserverProcess, startObserver } from '../support/processes/observer-process.ts';
import { type Asker, RealFleet, type Replied } from '../support/processes/real-fleet.ts';
import { startTogether } from '../support/tests/start-together.ts';
import { until } from '../support/tests/until.ts';
import { type Delegations, needsNetworks, SmallNetwork } from '../support/vantage/small-network.ts';

type Body = Replied['body'];
type Label = 'paris' | 'rome' | 'oslo';

const OBSERVERS: readonly Label[] = ['paris', 'rome', 'oslo'];
const FOREIGN = ['ns1.other.zz', 'ns2.other.zz'];
const JOBS = '/vantage/v1/jobs';
const ANSWERS = '/vantage/v1/answers';
const needs = needsNetworks();

describe.skipIf(needs !== '')(`observers in other networks${needs}`, () => {
  let fleet: RealFleet;
  let home: SmallNetwork;
  let networks: Record<Label, SmallNetwork>;
  const keys = {} as Record<Label, string>;
  const observers = new Map<Label, ObserverProcess>();
  let away: Label[] = [];
  let ann: Asker;
  let bob: Asker;
  /** The nameservers of their accounts. */
  let anns: string[];
  let bobs: string[];

  beforeAll(async () => {
    const apiPort = () => Number(new URL(fleet.api.url).port);
    const [here, paris, rome, oslo] = await startTogether<
      [SmallNetwork, SmallNetwork, SmallNetwork, SmallNetwork]
    >([
      SmallNetwork.make('home', apiPort),
      SmallNetwork.make('paris', apiPort),
      SmallNetwork.make('rome', apiPort),
      SmallNetwork.make('oslo', apiPort),
    ]);
    home = here;
    networks = { paris, rome, oslo };
    const ours = ['198.51.100.4', '203.0.113.4'].map((address) => ({ address, port: 53 }));
    fleet = await RealFleet.start({ settings: home.settings, ours }, { hasPool: true });
    ann = await fleet.newAccount('ann@example.org');
    bob = await fleet.newAccount('bob@example.org');
    anns = (await ann('GET', '/domains/ns-sets')).body[0];
    bobs = (await bob('GET', '/domains/ns-sets')).body[0];
    for (const [i, label] of OBSERVERS.entries()) keys[label] = await addVantage(label, `203.0.${i}.1`);
    const workers = fleet.startWorkers((program) => home.within(program));
    for (const label of OBSERVERS) observers.set(label, startObserver(networks[label], label, keys[label]));
    await appear(...OBSERVERS);
    await workers;
  });
  afterAll(async () => {
    await Promise.all([...observers.values()].map((observer) => observer.stop('SIGKILL')));
    await fleet?.stop();
    await Promise.all([home, ...Object.values(networks ?? {})].map((network) => network?.stop()));
  });

  const command = (...words: string[]) => runCommands(addVantageCommands, words, fleet.database.url);

  async function addVantage(label: Label, address: string): Promise<string> {
    const added = await command('vantage', 'add', label, '--network', `net-${label}`, '--address', address);
    expect(added).toMatchObject({ code: 0, stdout: expect.stringMatching(/^zfv_[\w-]{43}\n$/) });
    return added.stdout.trim();
  }

  /** Observers reach the API from now on, and have asked for jobs. */
  async function appear(...labels: Label[]): Promise<void> {
    for (const label of labels) networks[label].heal();
    away = away.filter((label) => !labels.includes(label));
    await until(
      async () => {
        const { rows } = await sql<{ n: number }>`
          select count(*)::int as n from vantages
          where name = any(${labels}::text[]) and seen_at > now() - interval '1 minute'`.execute(
          fleet.database.db,
        );
        return rows[0]?.n === labels.length;
      },
      () => `they ask for jobs: ${labels.map((label) => observers.get(label)?.log())}`,
    );
  }

  /** Observers do not reach the API any more, and a quarter of an hour has passed. */
  async function vanish(...labels: Label[]): Promise<void> {
    for (const label of labels) networks[label].cut();
    away = [...away, ...labels];
    await makeAway();
  }
  async function makeAway(): Promise<void> {
    await sql`
      update vantages set seen_at = least(seen_at, now() - interval '15 minutes')
      where name = any(${away}::text[])`.execute(fleet.database.db);
  }

  const everywhere = async (delegations: Delegations) => {
    for (const network of [home, ...Object.values(networks)]) await network.show(delegations);
  };
  const create = async (who: Asker, label: string, more: object = {}) => {
    const created = await who('POST', '/domains/', { name: `${label}.zz`, scan: false, ...more });
    if (created.status !== 200) throw new Error(`${label}: ${JSON.stringify(created.body)}`);
  };
  const see = async (who: Asker, label: string): Promise<Body> =>
    (await who('GET', `/domains/${label}.zz`)).body;
  const codes = (body: Body): string[] => body.findings.map(({ code }: { code: string }) => code);
  const message = (body: Body, wanted: string): string =>
    body.findings.find(({ code }: { code: string }) => code === wanted)?.message;

  /** Checks of these names, each as if its time had come, until every one is as wanted. */
  async function untilAll(
    wanted: readonly (readonly [Asker, string, (body: Body) => boolean])[],
  ): Promise<void> {
    let left = wanted;
    let seen: Body[] = [];
    await until(
      async () => {
        seen = await Promise.all(left.map(([who, label]) => see(who, label)));
        left = left.filter(([, , isWanted], i) => !isWanted(seen[i]));
        if (left.length === 0) return true;
        await passTime(left.map(([, label]) => `${label}.zz.`));
        return false;
      },
      () => `${left.map(([, label]) => label)}: ${JSON.stringify(seen)}`,
    );
  }
  async function passTime(names: readonly string[]): Promise<void> {
    await sql`
      with past as (
        update check_runs set last_seen_at = last_seen_at - interval '1 minute'
        where id in (select c.last_run_id from domain_checks c join domains d on d.id = c.domain_id
          where d.name = any(${names}::text[])))
      update domain_checks set due_at = now(), next_at = now(), takeover_seen_at = takeover_seen_at - interval '2 minutes'
      where domain_id in (select id from domains where name = any(${names}::text[]) and deleted_at is null)`.execute(
      fleet.database.db,
    );
    await makeAway();
    await new Promise((done) => setTimeout(done, 400));
  }
  const is = (status: string) => (body: Body) => body.status === status;
  const has = (code: string) => (body: Body) => codes(body).includes(code);

  it('see that a registry lies to the home network alone, which gives no name', async () => {
    await home.show({ stolen: bobs });
    await create(bob, 'stolen');
    await untilAll([[bob, 'stolen', has('VANTAGES_DISAGREE')]]);
    const told = await see(bob, 'stolen');
    expect(told.status).toBe('pending');
    // Two voices decide: the third need not have answered.
    expect(message(told, 'VANTAGES_DISAGREE')).toMatch(/(; from net-\w+: no such domain){2}/);
    await untilAll([[bob, 'stolen', has('VANTAGES_DISAGREE')]]);
    expect((await see(bob, 'stolen')).status).toBe('pending');
  });

  it('do not keep a name from its owner when the registry lies to one of them', async () => {
    const labels = ['keep', 'kept', 'gone', 'sold'];
    await everywhere(Object.fromEntries(labels.map((label) => [label, anns])));
    await networks.oslo.show(Object.fromEntries(labels.map((label) => [label, FOREIGN])));
    for (const label of labels) await create(ann, label);
    await untilAll(labels.map((label) => [ann, label, is('active')]));
  });

  it('see that a lie to the home network moves no domain and hands none to another account', async () => {
    await networks.oslo.show({ keep: anns, kept: anns, gone: anns, sold: anns });
    await create(bob, 'kept', { transfer: true });
    await home.show({ keep: FOREIGN, kept: bobs });
    await untilAll([
      [ann, 'keep', has('VANTAGES_DISAGREE')],
      [bob, 'kept', has('VANTAGES_DISAGREE')],
    ]);
    expect([await see(ann, 'keep'), await see(ann, 'kept'), await see(bob, 'kept')]).toMatchObject([
      { status: 'active' },
      { status: 'active' },
      { status: 'pending' },
    ]);
    await home.show({ keep: anns, kept: anns });
    await untilAll([[ann, 'keep', (body) => !codes(body).includes('VANTAGES_DISAGREE')]]);
  });

  it('are enough when one of them is away, and one is enough for a name that nobody has', async () => {
    await vanish('oslo');
    await everywhere({ first: anns, second: anns, gone: FOREIGN, sold: bobs });
    await create(ann, 'first');
    await untilAll([[ann, 'first', is('active')]]);
    await vanish('rome');
    await create(ann, 'second');
    await create(bob, 'sold', { transfer: true });
    await untilAll([
      [ann, 'second', is('active')],
      // A move and a takeover want two voices.
      [ann, 'gone', has('VANTAGES_AWAY')],
      [bob, 'sold', has('VANTAGES_AWAY')],
    ]);
    expect([await see(ann, 'gone'), await see(ann, 'sold'), await see(bob, 'sold')]).toMatchObject([
      { status: 'active' },
      { status: 'active' },
      { status: 'pending' },
    ]);
  });

  it('let everything wait when all of them are away, and go on by itself when they are back', async () => {
    await vanish('paris');
    await everywhere({ third: anns });
    await create(ann, 'third');
    await untilAll([[ann, 'third', has('VANTAGES_AWAY')]]);
    expect((await see(ann, 'third')).status).toBe('pending');
    await appear(...OBSERVERS);
    await untilAll([
      [ann, 'third', is('active')],
      [ann, 'gone', is('moved')],
      [bob, 'sold', is('active')],
    ]);
    expect(await see(ann, 'sold')).toMatchObject({ status: 'disabled' });
    expect(codes(await see(ann, 'third'))).not.toContain('VANTAGES_AWAY');
  });

  it('are believed once, and only with their key', async () => {
    const { passed } = networks.paris;
    const answer = passed.findLast(({ path }) => path === ANSWERS);
    if (answer === undefined) throw new Error('paris has not answered');
    const post = async (path: string, headers: Record<string, string>, body: Buffer) => {
      const response = await fetch(`${fleet.api.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      });
      return { status: response.status, body: (await response.json()) as Body };
    };
    const signed = (name: Label, key: string, path: string, body: Buffer) =>
      post(
        path,
        signVantageRequest(readPrivateKey(key) as KeyObject, name, { method: 'POST', path, body }),
        body,
      );
    const ofVantage = Object.entries(answer.headers).filter(([name]) => name.startsWith('x-vantage-'));
    const before = await droppedBy('paris');
    // As it was, word for word; then signed anew; then by another observer.
    expect(
      await post(ANSWERS, Object.fromEntries(ofVantage) as Record<string, string>, answer.body),
    ).toMatchObject({
      status: 401,
    });
    expect(await signed('paris', keys.paris, ANSWERS, answer.body)).toMatchObject({
      status: 200,
      body: { taken: false },
    });
    expect(await signed('rome', keys.rome, ANSWERS, answer.body)).toMatchObject({
      status: 200,
      body: { taken: false },
    });
    expect(await droppedBy('paris')).toBe(before + 1);
    const dropped = (outcome: string) =>
      fleet.api.metric(`zonefleet_vantage_answers_total{outcome="${outcome}"}`);
    expect([await dropped('twice'), await dropped('other_vantage')]).toEqual([1, 1]);
    // Another key, a name that nobody has, a changed body.
    const { privateKey } = makeVantageKey();
    const asking = Buffer.from('{"max":1,"waitSeconds":0}');
    expect(await signed('paris', privateKey, JOBS, asking)).toMatchObject({ status: 401 });
    expect(await signed('lima' as Label, keys.paris, JOBS, asking)).toMatchObject({ status: 401 });
    const headers = signVantageRequest(readPrivateKey(keys.paris) as KeyObject, 'paris', {
      method: 'POST',
      path: JOBS,
      body: asking,
    });
    expect(await post(JOBS, headers, Buffer.from('{"max":16,"waitSeconds":0}'))).toMatchObject({
      status: 401,
    });
    const refused = (path: string) =>
      fleet.api.metric(`zonefleet_api_requests_total{route="${path}",method="POST",status="401"}`);
    expect([await refused(ANSWERS), await refused(JOBS)]).toEqual([1, 3]);
    // The process itself says so, and goes on asking.
    const impostor = startObserver(networks.oslo, 'paris', privateKey, '127.0.0.1:9154');
    try {
      await until(() => {
        if (impostor.child.exitCode !== null) throw new Error(`it ended: ${impostor.log()}`);
        return impostor.log().includes('no observer of this name with this key');
      }, 'it says what is wrong');
    } finally {
      await impostor.stop();
    }
  });

  async function droppedBy(label: Label): Promise<number> {
    const { rows } = await sql<{
      dropped: number;
    }>`select dropped::int from vantages where name = ${label}`.execute(fleet.database.db);
    return rows[0]?.dropped as number;
  }

  it('are waited for no more when the operator removes them', async () => {
    await vanish(...OBSERVERS);
    await everywhere({ fourth: anns, keep: FOREIGN });
    await create(ann, 'fourth');
    await untilAll([
      [ann, 'fourth', has('VANTAGES_AWAY')],
      [ann, 'keep', has('VANTAGES_AWAY')],
    ]);
    for (const label of OBSERVERS) expect((await command('vantage', 'remove', label)).code).toBe(0);
    await untilAll([
      [ann, 'fourth', is('active')],
      [ann, 'keep', is('moved')],
    ]);
  });
});
