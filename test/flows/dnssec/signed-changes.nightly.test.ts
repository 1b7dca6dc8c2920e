// All ways to change a signed domain, as customers and operators take them: through the API, the command line and the look-up of
// ANAME targets. After each the zone verifies whole, a node has it, and every answer proves what it says.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { type CliRun, runCli } from '../../support/cli/run-cli.ts';
import { createDatabase, TEST_SETTINGS, type TestDatabase } from '../../support/database/database.ts';
import { atLater } from '../../support/database/database-clock.ts';
import { newAccount, published } from '../../support/database/domains.ts';
import { newSignedDomain, recordsOfZone, type SignedDomain } from '../../support/database/signed-domains.ts';
import { SIGNING_SECRETS, useSecrets } from '../../support/database/signed-zones.ts';
import { JudgedNode } from '../../support/dnssec/judged-node.ts';
import { type ApiProcess, type HttpAnswer, startApi } from '../../support/processes/api-process.ts';
import { scale } from '../../support/tests/scale.ts';
import { madeTargets } from '../../support/world/made-targets.ts';

const BATCH = scale(2000, 40);
const ORDERS = [
  { denial: 'nsec', algorithm: 13, split: false },
  { denial: 'nsec3', algorithm: 15, split: true },
] as const;
const OTHER_NAMESERVERS = ['ns7.other.example.org', 'ns8.other.example.org'];

const [{ name, secret }] = SIGNING_SECRETS as [(typeof SIGNING_SECRETS)[number]];
const KEY_SECRETS = `${name}:${secret.toString('base64')}`;

let database: TestDatabase;
let api: ApiProcess;
let node: JudgedNode;
let domains: SignedDomain[];

beforeAll(async () => {
  database = await createDatabase();
  useSecrets(database.db);
  const accountId = await newAccount(database.db, 'ann@example.org');
  const past = await atLater(database, -6); // some signatures are due, which edits make anew
  useSecrets(past);
  domains = [];
  for (const [i, order] of ORDERS.entries())
    domains.push(await newSignedDomain(past, accountId, `d${i}.example.`, order));
  await past.destroy();
  api = await startApi(database.url, { env: { KEY_SECRETS } });
  node = await JudgedNode.follow(database.url);
});
afterAll(async () => {
  await node?.stop();
  await api?.stop();
  await database?.drop();
});

async function done(method: string, path: string, body?: unknown): Promise<HttpAnswer> {
  const answer = await api.ask(method, path, body);
  expect([method, path, answer.status, answer.status === 200 ? '' : answer.body]).toEqual([
    method,
    path,
    200,
    '',
  ]);
  return answer;
}

function cli(args: readonly string[], env: Record<string, string> = {}): Promise<CliRun> {
  return runCli(args, { databaseUrl: database.url, env: { ...FLEET, KEY_SECRETS, ...env } });
}

const FLEET = {
  NAMESERVER_SETS: TEST_SETTINGS.nameserverSets.map((set) => set.join()).join(';'),
  EDGE_IPV4: TEST_SETTINGS.edgeIpv4.join(),
  EDGE_IPV6: TEST_SETTINGS.edgeIpv6.join(),
  SOA_RNAME: TEST_SETTINGS.soaRname,
};

async function expectWhole(): Promise<void> {
  const before = node.judged;
  expect(await node.faults(database.db)).toEqual([]);
  expect(node.judged - before).toBeGreaterThan(200);
}

const lines = async (apex: string) => (await published(database.db, parseName(apex))) ?? [];
const pathOf = ({ apex }: SignedDomain) => `/domains/${apex.slice(0, -1)}`;

describe('a signed domain stays whole after', () => {
  it('a batch, and its revert', async () => {
    await expectWhole();
    for (const domain of domains) {
      const before = await lines(domain.apex);
      const create = Array.from({ length: BATCH }, (_, i) => ({
        name: i % 5 === 0 ? `n${i}.deep.er` : i % 7 === 0 ? `cut${i}` : `n${i}`,
        type: i % 7 === 0 && i % 5 !== 0 ? 'NS' : 'A',
        destination: i % 7 === 0 && i % 5 !== 0 ? 'ns.else.example.net' : '192.0.2.9',
      }));
      const { headers } = await done('PUT', `${pathOf(domain)}/records/batch`, { create });
      expect((await lines(domain.apex)).length).toBeGreaterThan(before.length + 2 * BATCH);
      await expectWhole();
      await done('POST', `${pathOf(domain)}/changes/${headers['x-change-id']}/revert`);
      const namesOf = (all: readonly string[]) => all.map((line) => line.split(' ')[0]).sort();
      expect(namesOf(await lines(domain.apex))).toEqual(namesOf(before));
      await expectWhole();
    }
  });

  it('an import', async () => {
    for (const domain of domains) {
      const zoneFile = [
        'imported 300 A 192.0.2.30',
        '*.imported 300 TXT "wild"',
        'x.y.imported 300 MX 10 mail.example.net.',
        'sub 300 NS ns1.example.net.',
        'under.imported 300 CNAME imported',
      ].join('\n');
      const parsed = await done('POST', `${pathOf(domain)}/records/import/parse`, { zone_file: zoneFile });
      await done('POST', `${pathOf(domain)}/records/import`, { records: parsed.body.records });
      expect((await lines(domain.apex)).some((line) => line.startsWith('*.imported 300 TXT'))).toBe(true);
      await expectWhole();
    }
  });

  it('the look-ups of an ANAME target, which comes, changes and goes', async () => {
    const targets = madeTargets(database.db);
    for (const domain of domains) {
      const record = { name: 'flat', type: 'ANAME', destination: 'cdn.test' };
      await done('POST', `${pathOf(domain)}/records/`, record);
    }
    const flat = async () =>
      (await Promise.all(domains.map(({ apex }) => lines(apex))))
        .flat()
        .filter((line) => /^flat \d+ (A|AAAA) /.test(line))
        .map((line) => line.split(' ').at(-1))
        .sort();
    expect(await flat()).toEqual([]);
    await expectWhole(); // the name is marked
    for (const said of ['192.0.2.50 2001:db8::50 for 300', '192.0.2.51 192.0.2.52 for 60']) {
      targets.said.set('cdn.test.', said);
      await targets.runFor(1200);
      await expectWhole();
      expect(await flat()).toEqual(expect.arrayContaining([said.split(' ')[0]]));
    }
    targets.said.set('cdn.test.', 'none');
    await targets.runFor(7200);
    expect(await flat()).toEqual([]);
    await expectWhole();
  });

  it('`zonefleet migrate` with other names of nameservers, and not without the secret', async () => {
    const env = { NAMESERVER_SETS: OTHER_NAMESERVERS.join() };
    const before = await Promise.all(domains.map(({ apex }) => recordsOfZone(database.db, apex)));
    const refused = await cli(['migrate', '--force'], { ...env, KEY_SECRETS: '' });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('KEY_SECRETS is not set') });
    const wrong = `${name}:${Buffer.alloc(32, 9).toString('base64')}`;
    expect(await cli(['migrate', '--force'], { ...env, KEY_SECRETS: wrong })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`KEY_SECRETS: "${name}" is not the secret`),
    });
    expect(await Promise.all(domains.map(({ apex }) => recordsOfZone(database.db, apex)))).toEqual(before);
    expect(await cli(['migrate', '--force'], env)).toMatchObject({ code: 0, stderr: '' });
    for (const { apex } of domains) {
      const ns = (await lines(apex)).filter((line) => line.startsWith('@ ') && line.split(' ')[2] === 'NS');
      expect(ns.map((line) => line.split(' ').at(-1)?.replace(/\.$/, '')).sort()).toEqual(OTHER_NAMESERVERS);
    }
    await expectWhole();
  });

  it('its restore after it was deleted, with the keys that it had', async () => {
    for (const domain of domains) {
      const keys = async () =>
        (await recordsOfZone(database.db, domain.apex))
          .filter(({ type }) => type === TYPE.DNSKEY)
          .map(({ rdata }) => Buffer.from(rdata).toString('hex'));
      const before = await keys();
      await done('DELETE', pathOf(domain));
      await expect(keys()).rejects.toThrow('not served');
      await node.faults(database.db);
      expect(await cli(['domain', 'restore', domain.apex.slice(0, -1)])).toMatchObject({ code: 0 });
      expect(await keys()).toEqual(before);
      expect(await node.faults(database.db)).toEqual([]);
    }
  });
});
