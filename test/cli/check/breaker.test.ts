import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addBreakerCommands } from '../../../src/cli/check/breaker.ts';
import {
  addCheckCounts,
  endTrips,
  loadBreaker,
  tripBreaker,
} from '../../../src/store/checks/breaker-store.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await sql`truncate breaker_trips, check_counts`.execute(database.db);
});

const run = (...args: string[]) => runCommands(addBreakerCommands, ['breaker', ...args], database.url);
const ALL = { parent: '', checked: 812, turned: 240, off: 240 };
const COM = { parent: 'com.', checked: 300, turned: 200, off: 200 };
const rows = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/));

describe('breaker show', () => {
  it('exits with 0 while nothing is held, and shows the counts', async () => {
    await addCheckCounts(database.db, [COM, { parent: 'org.', checked: 12, turned: 1, off: 1 }]);
    expect(await run('show')).toEqual({
      code: 0,
      stdout: 'no moves are held; of 312 active domains checked within 15 minutes 201 turned\n',
      stderr: '',
    });
  });

  it('exits with 1 while moves are held, shows the parents and since when, and names the command', async () => {
    await tripBreaker(database.db, [ALL, COM]);
    const { code, stdout, stderr } = await run('show');
    expect([code, stderr]).toEqual([1, 'if the turn is real: zonefleet breaker release\n']);
    const SINCE = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(rows(stdout)).toEqual([
      ['PARENT', 'SINCE', 'CHECKED', 'TURNED', 'STATE'],
      ['(all)', SINCE, '812', '240', 'holds moves'],
      ['com', SINCE, '300', '200', 'holds moves'],
      ['moves are held; of 0 active domains checked within 15 minutes 0 turned'],
    ]);
  });

  it('shows ended trips in the log', async () => {
    await tripBreaker(database.db, [ALL]);
    await endTrips(database.db, []);
    expect((await run('show')).stdout).not.toContain('(all)');
    const { code, stdout } = await run('show', '--log');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^\(all\) .* over \d{4}-/m)]);
  });

  it('as JSON has every figure', async () => {
    await addCheckCounts(database.db, [COM]);
    await tripBreaker(database.db, [COM]);
    const { code, stdout } = await run('show', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      held: true,
      checked: 300,
      turned: 200,
      parents: [{ parent: 'com', checked: 300, turned: 200 }],
      trips: [
        {
          parent: 'com',
          since: expect.any(String),
          checked: 300,
          turned: 200,
          released_at: null,
          released_by: null,
          ended_at: null,
        },
      ],
    });
  });
});

describe('breaker release', () => {
  it('releases all moves, and records by whom', async () => {
    await tripBreaker(database.db, [ALL, COM]);
    expect(await run('release')).toEqual({
      code: 0,
      stdout: 'released (all) checked 812 turned 240\nreleased com checked 300 turned 200\n',
      stderr: '',
    });
    const { trips } = await loadBreaker(database.db);
    expect(trips.map(({ releasedBy }) => releasedBy)).toEqual([
      expect.stringMatching(/./),
      expect.stringMatching(/./),
    ]);
    const { code, stdout } = await run('show');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^com .* released \d{4}-\S+Z by \S+$/m)]);
  });

  it('releases those under one parent', async () => {
    await tripBreaker(database.db, [ALL, COM]);
    expect(await run('release', '--parent', 'COM')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^released com /),
    });
    const { trips } = await loadBreaker(database.db);
    expect(trips.map(({ parent, releasedAt }) => [parent, releasedAt !== null])).toEqual([
      ['', false],
      ['com.', true],
    ]);
    expect((await run('show')).code).toBe(1);
  });

  it('exits with 1 if nothing is held', async () => {
    expect(await run('release')).toEqual({ code: 1, stdout: '', stderr: 'no moves are held\n' });
    await tripBreaker(database.db, [COM]);
    expect(await run('release', '--parent', 'org')).toMatchObject({
      code: 1,
      stderr: 'no moves of domains under org are held\n',
    });
    await run('release', '--parent', 'com.');
    const again = await run('release', '--parent', 'com.', '--json');
    expect([again.code, JSON.parse(again.stdout)]).toEqual([1, { released: [] }]);
  });
});
