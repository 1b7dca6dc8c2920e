import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addNodeCommands } from '../../../src/cli/node/node.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';

const HOLD = '11111111-1111-4111-8111-111111111111';
let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await sql`delete from nodes`.execute(database.db);
});

const run = (...args: string[]) => runCommands(addNodeCommands, args, database.url);

/** A row as a node would report it; a live one from a little ahead, so that it stays live while the CLI starts. */
async function report(
  name: string,
  more: { held?: number; unserved?: number[] | null; state?: 'silent' | 'left' } = {},
): Promise<void> {
  const seen = more.state === undefined ? '1 minute' : '-1 minute';
  await sql`
    insert into nodes (name, instance, started_at, seen_at, left_at, loaded, position, zones, records,
      held_id, held_since, held_zones, unserved, version, answered, dropped, image_octets, image_capacity)
    values (${name}, gen_random_uuid(), now() - interval '3 hours 4 minutes', now() + ${seen}::interval,
      ${more.state === 'left' ? sql`now()` : null}, true, 4711, 1200, 34567,
      ${more.held === undefined ? null : HOLD}, ${more.held === undefined ? null : sql`now()`},
      ${more.held ?? 0}, ${more.unserved === undefined ? [] : more.unserved},
      '1.2.3', 9000, 30, 250, 1000)`.execute(database.db);
}

describe('node list', () => {
  it('shows what each node reports, aligned', async () => {
    await report('ams1');
    await report('fra-longer', { state: 'silent' });
    await report('old', { state: 'left' });
    const { code, stdout } = await run('node', 'list');
    expect(code).toBe(0);
    const [heads = '', ...rows] = stdout.trimEnd().split('\n');
    const column = (head: string, row = '') => row.slice(heads.indexOf(head)).split(/ {2,}/)[0];
    expect(rows.map((row) => column('NODE', row))).toEqual(['ams1', 'fra-longer', 'old']);
    expect(rows.map((row) => column('STATE', row))).toEqual(['live', 'silent', 'left']);
    expect(rows[0]).toMatch(/ 1200 +34567 +4711 .*3 h 5 min +25\.0 % +- +-$/);
  });

  it('shows how many zones a node does not serve as they are, and of how many it has lost count', async () => {
    await report('ams1', { unserved: [3, 7] });
    await report('fra1', { unserved: null });
    const { stdout } = await run('node', 'list');
    expect(stdout.split('\n').map((row) => row.trim().split(/ {2,}/).at(-2))).toEqual([
      'UNSERVED',
      '2',
      'over 1000',
      undefined,
    ]);
  });

  it('answers 1 while removals wait for an operator, and names the command', async () => {
    await report('ams1', { held: 800 });
    const text = await run('node', 'list');
    expect(text.code).toBe(1);
    expect(text.stdout).toMatch(/800 removals since \d{4}-/);
    expect(text.stderr).toContain('zonefleet node confirm ams1');
  });

  it('as JSON has every figure', async () => {
    await report('ams1', { held: 800, unserved: [3, 7] });
    const { code, stdout } = await run('--json', 'node', 'list');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      nodes: [
        {
          name: 'ams1',
          state: 'live',
          loaded: true,
          started_at: expect.stringMatching(/^\d{4}-.*Z$/),
          seen_at: expect.stringMatching(/^\d{4}-.*Z$/),
          uptime_seconds: 11_100,
          position: 4711,
          lag_seconds: null,
          zones: 1200,
          records: 34567,
          unserved_zones: 2,
          held: { zones: 800, since: expect.stringMatching(/Z$/), confirmed: false },
          version: '1.2.3',
          answered: 9000,
          dropped: 30,
          image_bytes: 250,
          image_capacity_bytes: 1000,
        },
      ],
    });
  });
});

describe('node list --rates', () => {
  it('shows what a node did a second between two looks, and nothing of one that did not report', async () => {
    await report('ams1');
    await report('quiet', { state: 'silent' });
    const listing = run('node', 'list', '--rates');
    let isOver = false;
    const reporting = (async () => {
      while (!isOver) {
        await pause(20);
        await sql`
          update nodes set seen_at = seen_at + interval '1 second', answered = answered + 120, dropped = dropped + 3
          where name = 'ams1'`.execute(database.db);
      }
    })();
    const { code, stdout } = await listing.finally(() => (isOver = true));
    await reporting;
    const [heads = '', ...rows] = stdout
      .trimEnd()
      .split('\n')
      .map((row) => row.trim().split(/ {2,}/).join('|'));
    expect([code, heads]).toEqual([0, expect.stringContaining('|ANSWERS/S|DROPS/S|IMAGE|')]);
    expect(rows).toEqual([
      expect.stringContaining('|120|3|25.0 %|'),
      expect.stringContaining('|-|-|25.0 %|'),
    ]);
  });
});

describe('node confirm', () => {
  it('without names confirms on every node that holds, and once only what is held now', async () => {
    await report('ams1', { held: 800 });
    await report('fra1');
    expect(await run('node', 'confirm')).toEqual({
      code: 0,
      stdout: 'confirmed ams1 removals 800\n',
      stderr: '',
    });
    const listed = await run('node', 'list');
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining(', confirmed') });
  });

  it('exits with 1 if nothing is held', async () => {
    await report('fra1');
    expect(await run('node', 'confirm')).toMatchObject({ code: 1, stderr: 'no node holds removals back\n' });
  });

  it('by names reports the outcome of each', async () => {
    await report('ams1', { held: 800 });
    await report('ams2', { held: 800 });
    await report('fra1');
    const { code, stdout } = await run('node', 'confirm', 'fra1', 'ams1', 'nowhere', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout).nodes).toEqual([
      { name: 'fra1', outcome: 'nothing-held', zones: 0 },
      { name: 'ams1', outcome: 'confirmed', zones: 800 },
      { name: 'nowhere', outcome: 'absent', zones: 0 },
    ]);
    expect((await run('node', 'list')).stderr).toContain('node confirm ams2');
  });
});
