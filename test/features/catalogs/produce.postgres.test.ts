import type { Command } from 'commander';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Cli } from '../../../src/cli/terminal/cli.ts';
import { addZoneCommands } from '../../../src/cli/zone/zone.ts';
import { parseName } from '../../../src/dns/name.ts';
import { addCatalogCommands } from '../../../src/features/catalogs/cli.ts';
import { changeNames, createCatalog } from '../../../src/features/catalogs/sql-manage.ts';
import { publishCatalogs } from '../../../src/features/catalogs/sql-publish.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { handOver } from '../../../src/store/change/hand-over.ts';
import { setPolicy, setZonePolicies } from '../../../src/store/transfers/policies.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { saveZones, unloadZones } from '../../../src/store/zones/save-zones.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import { CatalogReader } from '../../../src/zone/catalog/read-catalog.ts';
import { serialIn } from '../../../src/zone/serial.ts';
import { expiredMarkOf, isPrivateMark } from '../../../src/zone/zone.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { rowsOf } from '../../support/tests/rows-of.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const { db, url, query, column } = sharedDatabase();
const addCommands = (program: Command, cli: Cli) => {
  addZoneCommands(program, cli);
  addCatalogCommands(program, cli);
};
const run = (command: string) => runCommands(addCommands, command.split(' '), url);
const BY_CLI = { source: 'cli' } as const;

const load = async (...names: readonly string[]) => {
  await saveZones(
    db,
    names.map((name) => ({
      apex: parseName(name),
      records: recordsOf('@ 60 SOA . . 1 2 3 4 5\n@ 60 NS ns\nns 60 A 192.0.2.1', name),
    })),
    BY_CLI,
  );
};
const unload = async (...names: readonly string[]) =>
  await unloadZones(
    db,
    names.map((name) => parseName(name)),
    BY_CLI,
  );
const create = async (name = 'cat.invalid.', more: object = {}) =>
  expect(
    await createCatalog(
      db,
      {
        name,
        selects: { kind: 'all' },
        policy: undefined,
        isGroupedByPolicy: false,
        maxMembers: 100,
        ...more,
      },
      'op',
    ),
  ).toMatchObject({ kind: 'created' });

/** Publishes as if a second, or `later`, had passed. */
async function publish(later = '1 second') {
  await query`update catalogs set published_at = published_at - ${later}::interval, compared_at = compared_at - ${later}::interval,
    created_at = created_at - ${later}::interval`;
  await query`update catalog_members set left_at = left_at - ${later}::interval`;
  await query`update catalog_changes set due_at = due_at - ${later}::interval`;
  return await publishCatalogs(db);
}

/** Returns the members as the zone lists them: `name group →catalog`, and their labels. */
async function listed(catalog = 'cat.invalid.') {
  const apex = parseName(catalog);
  const { records = [] } = (await loadZone(db, apex)) ?? {};
  const built = buildZone(apex, records);
  expect(built).toMatchObject({ kind: 'built', zone: { isPrivate: true } });
  expect(records.some((record) => isPrivateMark(record, apex))).toBe(true);
  const reader = new CatalogReader(apex, { maxMembers: 1000 });
  reader.add(records);
  const read = reader.end();
  if (read.kind !== 'read') throw new Error(read.why);
  const members = [...read.members.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    members: members.map(({ name, groups, coo }) => [name, ...groups, ...(coo ? [`→${coo}`] : [])].join(' ')),
    labels: new Map(members.map(({ name, label }) => [name, label])),
    serial: built.kind === 'built' ? serialIn(built.zone.soa.rdata[0]!) : 0,
    records: records.length,
  };
}
const members = async (catalog?: string) => (await listed(catalog)).members;

describe('a catalog', () => {
  test('lists the zones that nodes serve whole, and follows each change with a newer serial', async () => {
    const account = await newAccount(db, 'ann@example.org');
    await load('a.example.', 'b.example.');
    await create();
    const { id } = await newDomain(db, account, 'shop.example.');
    expect(await publish()).toEqual([{ catalog: 'cat.invalid.', joined: 3, left: 0, newlyFull: undefined }]);
    const first = await listed();
    expect(first.members).toEqual(['a.example.', 'b.example.', 'shop.example.']);
    expect(await publish()).toEqual([]);
    await load('c.example.');
    await unload('a.example.');
    await changeStatus(db, { ...BY, domainId: id, event: 'ban' });
    await query`insert into zone_records (zone_id, owner, type, ttl, rdata, version)
      select id, name, 0, ${expiredMarkOf(parseName('b.example.')).ttl}, '', version from zones where name = 'b.example.'`;
    await query`insert into secondaries (zone_name, peers) values ('b.example.', '{1}')`;
    await query`update secondaries set expired_at = now()`;
    expect(await publish()).toMatchObject([{ joined: 1, left: 3 }]);
    const second = await listed();
    expect(second.members).toEqual(['c.example.']);
    expect(second.serial).toBeGreaterThan(first.serial);
    await query`delete from zone_records where type = 0 and owner = 'b.example.'`;
    await query`delete from secondaries`;
    expect(await publish()).toMatchObject([{ joined: 1, left: 0 }]);
    expect(await column`select distinct source from changes where zone = 'cat.invalid.' order by 1`).toEqual([
      'catalog',
      'cli',
    ]);
  });

  test('changes at most once per second', async () => {
    await load('a.example.');
    await create();
    await publish();
    await load('b.example.');
    expect(await publishCatalogs(db)).toEqual([]);
    expect(await publish()).toHaveLength(1);
  });

  test('gives a zone that was deleted and created again another label', async () => {
    await load('a.example.', 'b.example.');
    await create();
    await publish();
    const before = (await listed()).labels;
    await unload('a.example.');
    await load('a.example.');
    expect(await publish()).toMatchObject([{ joined: 1, left: 1 }]);
    const after = await listed();
    expect(after.labels.get('b.example.')).toBe(before.get('b.example.'));
    expect(after.labels.get('a.example.')).not.toBe(before.get('a.example.'));
    expect(after.records).toBe(6);
  });

  test('announces a member that moves to another catalog for an hour, with the same label (RFC 9432 §4.3.1)', async () => {
    await load('a.example.', 'b.example.');
    await create();
    await create('other.invalid.', { selects: undefined });
    await publish();
    const { labels } = await listed();
    await changeNames(db, 'other.invalid.', 'add', ['a.example.', 'new.example.']);
    await publish();
    expect([await members(), await members('other.invalid.')]).toEqual([
      ['a.example. →other.invalid.', 'b.example.'],
      [],
    ]);
    await publish();
    expect(await members('other.invalid.')).toEqual(['a.example.']);
    expect((await listed('other.invalid.')).labels.get('a.example.')).toBe(labels.get('a.example.'));
    await publish('59 minutes');
    expect(await members()).toEqual(['a.example. →other.invalid.', 'b.example.']);
    await publish('1 minute');
    expect(await members()).toEqual(['b.example.']);
    await changeNames(db, 'other.invalid.', 'remove', ['a.example.']);
    await publish();
    await publish();
    expect([await members(), await members('other.invalid.')]).toEqual([
      ['a.example.', 'b.example.'],
      ['a.example. →cat.invalid.'],
    ]);
    await run('catalog remove other.invalid');
    await publish();
    expect(await members()).toEqual(['a.example.', 'b.example.']);
  });

  test('lists the domains of one account, also after a domain got another owner', async () => {
    const ann = await newAccount(db, 'ann@example.org');
    const bob = await newAccount(db, 'bob@example.org');
    const { id } = await newDomain(db, ann, 'shop.example.');
    await newDomain(db, bob, 'other.example.');
    await create('cat.invalid.', { selects: { kind: 'account', accountId: ann } });
    await publish();
    expect(await members()).toEqual(['shop.example.']);
    await handOver(db, { ...BY, domainId: id, accountId: bob });
    await publish();
    expect(await members()).toEqual([]);
  });

  test('gives members the names of their policies as groups', async () => {
    await load('a.example.', 'b.example.');
    await create('cat.invalid.', { isGroupedByPolicy: true });
    await publish();
    expect(await members()).toEqual(['a.example.', 'b.example.']);
    for (const name of ['default', 'gold']) await setPolicy(db, { name, transfers: [], notified: [] });
    await setZonePolicies(db, ['b.example.'], 'gold');
    await publish();
    expect(await members()).toEqual(['a.example. default', 'b.example. gold']);
    await setZonePolicies(db, ['b.example.'], undefined);
    await publish();
    expect(await members()).toEqual(['a.example. default', 'b.example. default']);
  });

  test('takes no zones before nodes apply its policy', async () => {
    await setPolicy(db, { name: 'gold', transfers: [], notified: [] });
    await load('a.example.');
    await create('cat.invalid.', { policy: 'gold' });
    expect(await publish('6 seconds')).toEqual([]);
    expect(await publish('6 seconds')).toMatchObject([{ joined: 1 }]);
  });

  test('takes no zones beyond its limit, but still loses members', async () => {
    await load('a.example.', 'b.example.');
    await create('cat.invalid.', { maxMembers: 2 });
    await publish();
    await load('c.example.', 'd.example.');
    await unload('a.example.');
    const full = '3 zones would be members, but the limit is 2: no zone joins';
    expect(await publish()).toEqual([{ catalog: 'cat.invalid.', joined: 0, left: 1, newlyFull: full }]);
    expect(await members()).toEqual(['b.example.']);
    const shown = await run('catalog list');
    expect([shown.code, shown.stdout]).toEqual([
      1,
      expect.stringMatching(new RegExp(`full .*CATALOG_FULL: ${full}`)),
    ]);
    await load('e.example.');
    expect(await publish()).toEqual([]);
    await unload('e.example.');
    expect(await publish('1 minute')).toEqual([]);
    expect((await run('catalog set cat.invalid --max-members 3')).code).toBe(0);
    expect(await publish()).toMatchObject([{ joined: 2 }]);
    expect((await run('catalog list')).code).toBe(0);
  });

  test('is compared with all zones after it was created, two minutes later, and every hour', async () => {
    await create();
    await publish();
    await load('a.example.', 'b.example.', 'c.example.');
    const forget = () => query`delete from catalog_changes`;
    await forget();
    expect(await publish('1 minute')).toEqual([]);
    await publish('2 minutes');
    expect(await members()).toEqual(['a.example.', 'b.example.', 'c.example.']);
    await unload('c.example.');
    await forget();
    expect(await publish('59 minutes')).toEqual([]);
    expect(await publish('1 minute')).toMatchObject([{ left: 1 }]);
  });
});

describe('the command line', () => {
  beforeEach(async () => {
    await load('zone.example.');
    await newDomain(db, await newAccount(db, 'ann@example.org'), 'shop.example.');
  });

  test('creates, lists and removes a catalog, each with an entry in the audit log', async () => {
    expect(await run('catalog create Cat.invalid --select all')).toMatchObject({
      code: 0,
      stdout: 'created cat.invalid.\n',
      stderr: expect.stringContaining('warning: no peer of the policy default has a key'),
    });
    expect(await run('catalog member add cat.invalid absent.example zone.example')).toMatchObject({
      code: 0,
      stdout: 'added absent.example.\nadded zone.example.\n',
      stderr: 'warning: absent.example.: there is no such zone; it becomes a member when nodes serve it\n',
    });
    await publish();
    expect(await run('catalog members cat.invalid')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^absent.example. {2}not listed.*\nshop.example. {2}\w{26}\nzone.example. {2}\w{26}\n$/,
      ),
    });
    const { catalogs } = JSON.parse((await run('catalog list --json')).stdout);
    expect(catalogs).toMatchObject([
      { catalog: 'cat.invalid.', role: 'producer', state: 'current', members: 2, select: 'all' },
    ]);
    expect((await run('catalog member remove cat.invalid absent.example shop.example')).code).toBe(1);
    expect((await run('catalog remove cat.invalid')).code).toBe(0);
    expect(await loadZone(db, parseName('cat.invalid.'))).toBeUndefined();
    expect(await column`select action from audit_log where action like 'catalog.%' order by id`).toEqual([
      ...['catalog.create', 'catalog.member', 'catalog.member', 'catalog.remove'],
    ]);
    expect((await run('zone load cat.invalid')).code).not.toBe(0);
  });

  test('refuses names that would hide others, and wrong options', async () => {
    await create('old.invalid.', { selects: undefined });
    await query`insert into secondaries (zone_name, peers) values ('later.copies.example.', '{1}')`;
    await query`insert into signed_zones (zone_name, goal, algorithm, denial, phase)
      values ('signed.invalid.', 'signed', 13, 'nsec', 'secure')`;
    for (const [command, code, message] of rowsOf(`
catalog create zone.example | 1 | zone.example. exists
catalog create shop.example | 1 | shop.example. exists
catalog create cat.shop.example | 1 | cat.shop.example. is below the customer's domain shop.example.
catalog create ns.zone.example | 1 | ns.zone.example. is a name at or above records of the zone zone.example.
catalog create example | 1 | example. is above the zone
catalog create signed.invalid | 1 | signed.invalid. is signed by this fleet
catalog create copies.example | 1 | copies.example. is above the zone later.copies.example.
catalog create . | 1 | . cannot be the name of a catalog
catalog create com | 1 | com. is a public suffix
catalog create *.cat.example | 1 | *.cat.example. cannot be the name of a catalog
catalog create cat.example --policy gold | 1 | cat.example. cannot have the policy gold
catalog create cat.example --select account=99 | 1 | cat.example. cannot select account 99
catalog create cat.example --select some | 2 | --select: expected all or account=ID
catalog create cat.example --max-members 1000001 | 2 | --max-members: expected a number from 1 to 1000000
catalog member add absent.example a.example | 1 | absent.example.: no such catalog of this fleet
catalog members absent.example | 1 | absent.example.: no such catalog
catalog remove absent.example | 1 | absent.example.: no such catalog
catalog remove old.invalid --keep-members | 1 | old.invalid.: this fleet does not copy it: omit --keep-members
zone unload old.invalid | 1 | old.invalid.: is a catalog of this fleet`)) {
      const result = await run(command);
      expect([command, result.code, result.stderr]).toEqual([
        ...[command, Number(code), expect.stringContaining(message as string)],
      ]);
    }
    expect((await run('catalog create catz')).code).toBe(0);
    expect(await column`select name from catalogs`).toEqual(['old.invalid.', 'catz.']);
  });
});
