// Four networks, each with its own view of a small internet (docs/rules.md "Vantage points"): the workers stand in one, an
// observer in each of the others. Real processes: API, workers, three observers, Postgres. One network sees a lying registry.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addVantageCommands } from '../../src/cli/vantage/vantage.ts';
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
});
