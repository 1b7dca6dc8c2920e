// ANAME records from the API call that creates them to the answer: API, workers and nameserver on a small internet.

import { Resolver } from 'node:dns/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printName } from '../../src/dns/name.ts';
import { type Answer, startTestApi, type TestApi } from '../support/api/api.ts';
import { expectPublished } from '../support/database/domains.ts';
import { type NodeProcess, startNode } from '../support/processes/nodes.ts';
import { startWorkers, type WorkersProcess } from '../support/processes/workers-process.ts';
import { startTogether } from '../support/tests/start-together.ts';
import { until } from '../support/tests/until.ts';
import { type StartedWorld, startWorld } from '../support/world/fake-internet.ts';

const needs = process.platform === 'linux' ? '' : ' (skipped: needs Linux)'; // elsewhere loopback has one address
const DOMAINS = 30;

const worldWith = (records: string) => ({
  zones: { 'net.': '', 'cdn.net.': `alias 90 CNAME web\n${records}` },
});

describe.skipIf(needs !== '')(`from the call to the answer${needs}`, () => {
  let world: StartedWorld;
  let api: TestApi;
  let node: NodeProcess;
  let workers: WorkersProcess;
  const resolver = new Resolver({ timeout: 2000, tries: 2 });

  beforeAll(async () => {
    world = await startWorld(worldWith('web 300 A 198.51.100.7\nweb 300 AAAA 2001:db8::7'));
    api = await startTestApi();
    const { url } = api.database;
    [node, workers] = await startTogether([
      startNode('aname', { DATABASE_URL: url }),
      startWorkers(url, world.settings),
    ]);
    resolver.setServers([`127.0.0.1:${node.address.port}`]);
  });
  afterAll(async () => {
    await Promise.all([workers?.stop(), node?.stop()]);
    await api?.stop();
    await world?.close();
  });

  const answers = (name: string) => resolver.resolve4(name, { ttl: true }).catch(() => []);
  const untilAnswered = (name: string, address: string, ttl: number) =>
    until(
      async () => (await answers(name)).some((one) => one.address === address && one.ttl === ttl),
      `${name} is ${address} for ${ttl} s`,
    );
  const write = async (method: string, path: string, body: unknown): Promise<Answer> => {
    const answer = await api.ask(method, path, { body });
    expect(answer).toMatchObject({ status: 200 });
    return answer;
  };
  /** As if the TTL of the target were over. */
  const makeDue = () =>
    sql`update aname_targets set due_at = now(), checked_at = checked_at - interval '1 day'`.execute(api.db);

  it('a new record is looked up at once, shown, and answered', async () => {
    await api.makeDomain('first.test');
    const path = '/domains/first.test/records/';
    const made = await write('POST', path, {
      name: '@',
      type: 'ANAME',
      destination: 'ALIAS.cdn.net',
      ttl: 3600,
    });
    expect(made.body.dns_content).toBe('');
    await untilAnswered('first.test', '198.51.100.7', 90);
    expect(await resolver.resolve6('first.test')).toEqual(['2001:db8::7']);
    const shown = await api.ask('GET', path + made.body.id);
    expect(shown.body.dns_content).toBe('198.51.100.7, 2001:db8::7');
    const [change] = (await api.ask('GET', '/domains/first.test/changes')).body;
    expect(change).toMatchObject({ source: 'aname', actor: { kind: 'system' }, records: [] });

    await write('PUT', path + made.body.id, { proxied: true });
    await untilAnswered('first.test', '192.0.2.1', 300);
    await write('PUT', path + made.body.id, { proxied: false, name: '*.shop' });
    await untilAnswered('any.shop.first.test', '198.51.100.7', 90);
  });

  it(`${DOMAINS} domains that point to one name are one look-up, and all change with it`, async () => {
    const names = Array.from({ length: DOMAINS }, (_, i) => `d${i}.test`);
    for (const name of names) {
      await api.makeDomain(name);
      await write('POST', `/domains/${name}/records/`, {
        name: 'www',
        type: 'ANAME',
        destination: 'web.cdn.net',
      });
    }
    for (const name of names) await untilAnswered(`www.${name}`, '198.51.100.7', 300);
    world.internet.seen.length = 0;
    world.become(worldWith('web 120 A 198.51.100.8'));
    await makeDue();
    for (const name of names) await untilAnswered(`www.${name}`, '198.51.100.8', 120);
    await untilAnswered('any.shop.first.test', '198.51.100.8', 90);
    const targets = world.internet.seen.filter(({ name }) => printName(name).endsWith('cdn.net.'));
    expect(targets.length).toBeLessThan(10); // both targets, both families, and the alias of one
    const { rows } = await sql<{ id: number }>`select id from domains`.execute(api.db);
    await expectPublished(api.db, ...rows.map(({ id }) => id));
  });
});
