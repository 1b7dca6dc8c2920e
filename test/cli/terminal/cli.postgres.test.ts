// Every command that writes adds an audit log entry with the operator's name.

import { userInfo } from 'node:os';
import { beforeAll, expect, it } from 'vitest';
import { addAccountCommands } from '../../../src/cli/account/account.ts';
import { addKeyCommands } from '../../../src/cli/account/key.ts';
import { addPlanCommands } from '../../../src/cli/account/plan.ts';
import { addBreakerCommands } from '../../../src/cli/check/breaker.ts';
import { addDomainCommands } from '../../../src/cli/domain/domain.ts';
import { addNodeCommands } from '../../../src/cli/node/node.ts';
import { addVantageCommands } from '../../../src/cli/vantage/vantage.ts';
import { addZoneCommands } from '../../../src/cli/zone/zone.ts';
import { tripBreaker } from '../../../src/store/checks/breaker-store.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { auditAfter, lastAudit } from '../../support/database/audit-rows.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const { db, url, query } = keptDatabase();
beforeAll(async () => {
  await tripBreaker(db, [{ parent: 'example.', checked: 9, turned: 8, off: 0 }]);
  await query`
    insert into nodes (name, instance, started_at, seen_at, loaded, zones, records, held_id, held_since, held_zones)
    values ('ams1', gen_random_uuid(), now(), now(), true, 1, 1, gen_random_uuid(), now(), 4)`;
});

type Add = Parameters<typeof runCommands>[0];
const ACTS: readonly [Add, string, readonly string[]][] = [
  [addAccountCommands, 'account create ann@shop.example --name Ann', ['account.create']],
  [addAccountCommands, 'account create bob@shop.example', ['account.create']],
  [addAccountCommands, 'account create ann@shop.example', []],
  [addAccountCommands, 'account admin bob@shop.example', ['account.update']],
  [addAccountCommands, 'account admin bob@shop.example --revoke', ['account.update']],
  [addAccountCommands, 'account deactivate bob@shop.example', ['account.update']],
  [addAccountCommands, 'account activate bob@shop.example nobody@shop.example', ['account.update']],
  [addAccountCommands, 'account plan ann@shop.example --plan pro', ['account.update']],
  [addAccountCommands, 'account reseller bob@shop.example', ['account.update']],
  [addAccountCommands, 'account provider ann@shop.example --provider bob@shop.example', ['account.update']],
  [addAccountCommands, 'account provider bob@shop.example --provider bob@shop.example', []],
  [addAccountCommands, 'account reset ann@shop.example', ['account.link']],
  [addAccountCommands, 'account sign-in ann@shop.example', ['account.link']],
  [addAccountCommands, 'account list', []],
  [addKeyCommands, 'key create ann@shop.example --name ci', ['key.create']],
  [addKeyCommands, 'key revoke 1', ['key.revoke']],
  [addKeyCommands, 'key revoke 4711', []],
  [addPlanCommands, 'plan create gold --name Gold max_records=9', ['plan.create']],
  [addPlanCommands, 'plan set gold max_records=10', ['plan.update']],
  [addPlanCommands, 'plan term gold --days 30 --price 100', ['plan.add_term']],
  [addPlanCommands, 'plan term gold --retire 4711', []],
  [
    addDomainCommands,
    'domain create shop-of-ann.com --account ann@shop.example --no-scan',
    ['domain.create'],
  ],
  [addDomainCommands, 'domain ban shop-of-ann.com', ['domain.status']],
  [addDomainCommands, 'domain unban shop-of-ann.com', ['domain.status']],
  [addDomainCommands, 'domain suspend shop-of-ann.com', ['domain.suspend']],
  [addDomainCommands, 'domain suspend shop-of-ann.com', []],
  [addDomainCommands, 'domain resume shop-of-ann.com', ['domain.suspend']],
  [addDomainCommands, 'domain plan shop-of-ann.com --plan gold', ['domain.plan']],
  [addDomainCommands, 'domain plan shop-of-ann.com --plan lead', []],
  [addDomainCommands, 'domain delete shop-of-ann.com', ['domain.delete']],
  [addDomainCommands, 'domain restore shop-of-ann.com', ['domain.restore']],
  [addNodeCommands, 'node confirm', ['node.confirm']],
  [addBreakerCommands, 'breaker release', ['breaker.release']],
  [addVantageCommands, 'vantage add ob1 --network net-a', ['vantage.add']],
  [addVantageCommands, 'vantage remove ob1', ['vantage.remove']],
  [addVantageCommands, 'vantage remove ob1', []],
  [addZoneCommands, 'zone load fixtures/zones/all-types.zone', ['zone.load']],
  [addZoneCommands, 'zone load fixtures/zones/all-types.zone', []],
];

// Each command depends on the previous ones.
it.each(ACTS)('%o: zonefleet %s', async (add, line, actions) => {
  const before = await lastAudit(db);
  const { stdout, stderr } = await runCommands(add, line.split(' '), url);
  const rows = await auditAfter(db, before);
  expect([stderr, rows.map(({ action }) => action)]).toEqual([stderr, actions]);
  for (const { actor } of rows) expect(actor).toEqual({ kind: 'cli', name: userInfo().username });
  const secrets = stdout.match(/(svc|lnk)_\w{20,}|-----BEGIN[^-]+/g) ?? [];
  for (const secret of secrets) expect(JSON.stringify(rows)).not.toContain(secret);
});

it('a removed zone is logged by its name', async () => {
  const zones = await query<{ name: string }>`select name from zones where kind = 'operator'`;
  const name = zones[0]?.name as string;
  const before = await lastAudit(db);
  await runCommands(addZoneCommands, ['zone', 'unload', name], url);
  expect(await auditAfter(db, before)).toMatchObject([
    { action: 'zone.unload', targetName: name, before: { zones: 1, names: [name] } },
  ]);
});
