import { afterAll, beforeAll, expect, it } from 'vitest';
import { printBuild, readBuild } from '../../../src/process/build.ts';
import { MIGRATION_NAMES } from '../../../src/store/postgres/schema-version.ts';
import { runCli } from '../../support/cli/run-cli.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase({ empty: true });
});
afterAll(() => database.drop());

const run = (args: string[], env: Record<string, string> = {}) =>
  runCli(args, { databaseUrl: database.url, env });

it('migrate creates the schema that commands require, and changes nothing the second time', async () => {
  const before = await run(['zone', 'export', 'example.com']);
  expect(before).toMatchObject({ code: 2, stderr: expect.stringMatching(/run `zonefleet migrate`/) });

  const plan = await run(['migrate', '--plan']);
  expect(plan).toMatchObject({
    code: 1,
    stderr: '',
    stdout: expect.stringMatching(/the schema will be created\n$/),
  });

  const first = await run(['migrate']);
  expect(first.stderr).toBe('');
  expect(first.code).toBe(0);
  expect(first.stdout).toMatch(/^applied 0001-/);

  expect(await run(['migrate', '--plan'])).toMatchObject({
    code: 0,
    stdout: `program ${printBuild(readBuild())}, schema ${MIGRATION_NAMES.at(-1)}\nnothing to do\n`,
  });
  const changed = await run(['migrate', '--plan', '--json'], { SOA_RNAME: 'root.example.net' });
  expect(changed.code).toBe(1);
  expect(JSON.parse(changed.stdout)).toMatchObject({
    ...readBuild(),
    steps: [],
    changed: [{ setting: 'SOA_RNAME' }],
  });

  const again = await run(['migrate', '--json']);
  expect(again.code).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({ applied: [], changed: [], zones: 0 });
  expect((await run(['zone', 'export', 'example.com'])).code).toBe(1);
});
