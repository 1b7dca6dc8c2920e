import type { Command } from 'commander';
import { beforeEach, expect, test } from 'vitest';
import type { Cli } from '../../../src/cli/terminal/cli.ts';
import { addZoneCommands } from '../../../src/cli/zone/zone.ts';
import { addSecondaryCommands } from '../../../src/features/secondaries/cli.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { rowsOf } from '../../support/tests/rows-of.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const { url, query, column } = sharedDatabase();
const addCommands = (program: Command, cli: Cli) => {
  addZoneCommands(program, cli);
  addSecondaryCommands(program, cli);
};
const run = (command: string) => runCommands(addCommands, command.split(' '), url);

beforeEach(async () => {
  await query`insert into peers (name, addresses) values ('one', '{192.0.2.1}'), ('two', '{192.0.2.2}')`;
});

test('zones are added, listed, transferred again and removed, each with an entry in the audit log', async () => {
  expect(await run('secondary add B.example --from two one --max-records 5')).toMatchObject({
    code: 0,
    stdout: 'added b.example.\n',
  });
  await run('secondary add a.example --from one');
  await query`update secondaries set last_error = 'PRIMARY_SILENT', last_message = 'no answer', failures = 1
    where zone_name = 'a.example.'`;
  const { stdout } = await run('secondary list');
  expect(stdout.split('\n').map((line) => line.split(/\s+/).slice(0, 4).join(' '))).toEqual([
    'ZONE STATE SERIAL FROM',
    'a.example. waiting - one',
    'b.example. waiting - two',
    '',
  ]);
  expect(stdout).toContain('PRIMARY_SILENT: no answer');
  const { secondaries } = JSON.parse((await run('secondary list --json')).stdout);
  expect(secondaries).toMatchObject([
    { zone: 'a.example.', max_records: null, last_error: 'PRIMARY_SILENT' },
    { zone: 'b.example.', from: ['two', 'one'], max_records: 5, state: 'waiting', serial: null },
  ]);
  expect(await run('zone retransfer a.example c.example')).toMatchObject({
    code: 1,
    stdout: 'ordered a.example.\n',
    stderr: 'c.example.: not a zone that is copied from a primary\n',
  });
  expect(await column`select is_forced from secondaries order by zone_name`).toEqual([true, false]);
  expect(await run('secondary remove a.example c.example')).toMatchObject({
    code: 1,
    stdout: 'removed a.example.: the copy is now an operator zone\n',
  });
  expect(await column`select action from audit_log order by id`).toEqual([
    'secondary.add',
    'secondary.add',
    'zone.retransfer',
    'secondary.remove',
  ]);
});

test.each(
  rowsOf(`
secondary add a.example --from three | 1 | a.example.: no such peer: three
secondary add a.example --from one two x y z | 2 | at most 4 primaries
secondary add a.example --from one --max-records 0 | 2 | expected a number of records
secondary add a.example | 2 | --from
secondary remove shop.example | 1 | shop.example.: not a zone that is copied from a primary
secondary remove catz.example | 1 | catz.example.: a catalog, or a member of one
zone unload copy.example | 1 | copy.example.: is copied from a primary`),
)('%s is refused', async (command = '', code, message) => {
  await query`insert into zones (name, kind, version, mark, records) values
    ('copy.example.', 'operator', 1, 1, 0), ('shop.example.', 'domain', 2, 2, 0), ('catz.example.', 'operator', 3, 3, 0)`;
  await query`insert into catalogs (name, role) values ('catz.example.', 'producer')`;
  await query`insert into secondaries (zone_name, peers) values ('copy.example.', '{1}')`;
  const result = await run(command);
  expect([result.code, result.stderr]).toEqual([Number(code), expect.stringContaining(message as string)]);
});
