// docs/operating/runbooks/full-disk.md: Postgres and a node on file systems of a few megabytes.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEBIAN_POSTGRES } from '../../support/database/database.ts';
import { fillDisk, lacksSmallDisk, mountSmallDisk } from '../../support/database/small-disk.ts';
import { askApi } from '../../support/processes/api-process.ts';
import { type Machine, prepareMachine, runbook, untilAnswered } from '../../support/runbooks/machine.ts';
import { type OwnPostgres, startOwnPostgres } from '../../support/runbooks/own-postgres.ts';
import { OWNER, prepareFleet } from '../../support/runbooks/prepare-fleet.ts';
import { until } from '../../support/tests/until.ts';
import { readMetric } from '../../support/watching/read-metric.ts';

const lacks = lacksSmallDisk() ?? (existsSync(DEBIAN_POSTGRES) ? undefined : 'postgresql-15');
const needs = lacks === undefined ? '' : ` (skipped: needs ${lacks})`;

let postgres: OwnPostgres;
let machine: Machine;
let disks: ReturnType<typeof mountSmallDisk>[];
let key: string;

const addRecord = (name: string) =>
  askApi(`http://127.0.0.1:${machine.ports.http}`, key, 'POST', '/domains/shop.example/records/', {
    name,
    type: 'A',
    destination: '192.0.2.90',
  });

beforeAll(async () => {
  if (needs !== '') return;
  postgres = await startOwnPostgres();
  disks = [mountSmallDisk(postgres.cluster, 64), mountSmallDisk(import.meta.dirname, 4)];
  const [ofDatabase, ofNode] = disks.map(({ tablespace }) => tablespace) as [string, string];
  mkdirSync(join(ofNode, 'log'));
  machine = await prepareMachine({
    '-h db1.example.net': `-h 127.0.0.1 -p ${postgres.port}`,
    '/var/lib/zonefleet-nameserver': ofNode,
    '/var/log/zonefleet': join(ofNode, 'log'),
  });
  await prepareFleet(machine, postgres.urlOf);
  const sql = (database: string, statement: string) =>
    machine.shell(`psql -q '${postgres.urlOf('postgres', database)}' -c "${statement}"`);
  await sql('postgres', `create tablespace small location '${ofDatabase}'`);
  await sql('postgres', 'alter database zonefleet set tablespace small');
  for (const slot of ['db2', 'db3'])
    await sql('postgres', `select pg_create_physical_replication_slot('${slot}', true)`);
  const nodeSettings = { DATABASE_URL: postgres.urlOf('zonefleet_node'), DATA_DIR: ofNode };
  machine.configure('nameserver', { ...nodeSettings, QUERY_LOG: join(ofNode, 'log/queries.json') });
  await machine.start('nameserver', 'api');
  key = (await machine.shell(`zonefleet key create ${OWNER} 2>/dev/null`)).trim();
});
afterAll(async () => {
  await machine?.end();
  await postgres?.end();
  for (const disk of disks ?? []) disk.remove();
});

describe.skipIf(needs !== '')(`the runbook for a full disk${needs}`, () => {
  const page = runbook('full-disk');

  it('finds and drops one slot, and the API accepts edits again without a restart', async () => {
    disks[0]?.fill();
    let refused = 0;
    for (let i = 0; i < 500 && refused === 0; i++)
      if ((await addRecord(`full-${i}`)).status === 503) refused++;
    expect(refused).toBe(1);
    expect(await machine.run(page, 'Postgres')).toMatch(/db2 +\| f .* kB/s);
    await machine.run(page, 'Postgres'); // drops the slot
    const slots = `psql '${postgres.urlOf('postgres')}' -Atc 'select slot_name from pg_replication_slots'`;
    expect(await machine.shell(slots)).toBe('db3\n');
    disks[0]?.clear();
    expect(await machine.run(page, 'Verify Postgres')).toContain('ready');
    expect((await addRecord('free')).status).toBeLessThan(300);
    await untilAnswered(machine.ports.dns, 'free.shop.example', '192.0.2.90');
  });

  it('a node answers and applies edits while its disk is full, and writes its snapshot again afterwards', async () => {
    fillDisk(join(disks[1]?.tablespace ?? '', 'log/queries.json'));
    let names = 0;
    const url = `http://127.0.0.1:${machine.ports.nameserver}`;
    const failures = () => readMetric(url, 'zonefleet_snapshot_write_failures_total{reason="disk_full"}');
    await until(async () => {
      expect((await addRecord(`node-${names++}`)).status).toBeLessThan(300);
      return (await failures()) > 0;
    }, 'the node cannot write');
    await untilAnswered(machine.ports.dns, `node-${names - 1}.shop.example`, '192.0.2.90');
    expect(await machine.run(page, 'A node')).toMatch(/disk_full"\} [1-9].*100%/s);
    await machine.run(page, 'A node'); // truncates the query log
    await until(async () => {
      const before = await failures();
      await pause(6000);
      return (await failures()) === before;
    }, 'the node can write');
    expect(await machine.run(page, 'Verify a node')).toMatch(/zones\.\d+\.image/);
    expect(page.rest()).toEqual([]);
  });
});
