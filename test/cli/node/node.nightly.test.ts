import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { addNodeCommands } from '../../../src/cli/node/node.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const HOLD = '11111111-1111-4111-8111-111111111111';
const database = keptDatabase();

beforeEach(async () => {
  await sql`delete from nodes`.execute(database.db);
});

const run = (...args: string[]) => runCommands(addNodeCommands, args, database.url);

/** A row as reported by a node. The time of a live node is slightly in the future, so that it is still live when the CLI has started. */
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
      '1.2.3+5245abc7a1b2', 9000, 30, 250, 1000)`.execute(database.db);
}

describe('node list', () => {
  it('prints the reports of the nodes in an aligned table', async () => {
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

  it('exits with 1 while removals wait for an operator, and prints the command', async () => {
    await report('ams1', { held: 800, unserved: [3, 7] });
    await report('fra1', { unserved: null });
    const text = await run('node', 'list');
    expect(text.code).toBe(1);
    expect(text.stdout).toMatch(/800 removals since \d{4}-/);
    expect(text.stdout.split('\n').map((row) => row.trim().split(/ {2,}/).at(-2))).toEqual([
      'UNSERVED',
      '2',
      'over 1000',
      undefined,
    ]);
    expect(text.stderr).toContain('zonefleet node confirm ams1');
    const { code, stdout } = await run('--json', 'node', 'list');
    expect(code).toBe(1);
    expect(JSON.parse(stdout).nodes[0]).toEqual({
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
      commit: '5245abc7a1b2',
      answered: 9000,
      dropped: 30,
      image_bytes: 250,
      image_capacity_bytes: 1000,
    });
  });
});

it('node list --rates prints rates between two reports, and none for a node that did not report', async () => {
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
  expect(rows).toEqual([expect.stringContaining('|120|3|25.0 %|'), expect.stringContaining('|-|-|25.0 %|')]);
});

it('node confirm allows removals on the named nodes, or on all nodes', async () => {
  await report('fra1');
  expect(await run('node', 'confirm')).toMatchObject({ code: 1, stderr: 'no node holds removals\n' });
  await report('ams1', { held: 800 });
  await report('ams2', { held: 800 });
  const { code, stdout } = await run('node', 'confirm', 'fra1', 'ams1', 'nowhere', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(stdout).nodes).toEqual([
    { name: 'fra1', outcome: 'nothing-held', zones: 0 },
    { name: 'ams1', outcome: 'confirmed', zones: 800 },
    { name: 'nowhere', outcome: 'absent', zones: 0 },
  ]);
  expect((await run('node', 'list')).stderr).toContain('node confirm ams2');
  const all = await run('node', 'confirm');
  expect(all).toEqual({
    code: 0,
    stdout: 'confirmed ams1 removals 800\nconfirmed ams2 removals 800\n',
    stderr: '',
  });
  expect(await run('node', 'list')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(', confirmed'),
  });
});
