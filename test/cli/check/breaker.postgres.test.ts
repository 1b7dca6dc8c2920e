import { beforeEach, describe, expect, it } from 'vitest';
import { addBreakerCommands } from '../../../src/cli/check/breaker.ts';
import {
  addCheckCounts,
  endTrips,
  loadBreaker,
  tripBreaker,
} from '../../../src/store/checks/breaker-store.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { auditAfter, lastAudit } from '../../support/database/audit-rows.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const { db, url, query } = keptDatabase();
beforeEach(async () => {
  await query`truncate breaker_trips, check_counts, check_hours`;
});

const run = (...args: string[]) => runCommands(addBreakerCommands, ['breaker', ...args], url);
const ALL = { parent: '', checked: 812, turned: 240, off: 240 };
const COM = { parent: 'com.', checked: 300, turned: 200, off: 200 };
const rows = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/));

describe('breaker show', () => {
  it('exits with 0 while nothing is held, and shows the counts', async () => {
    await addCheckCounts(db, [COM, { parent: 'org.', checked: 12, turned: 1, off: 1 }]);
    expect(await run('show')).toEqual({
      code: 0,
      stdout:
        'no status changes are held; 201 of the 312 active domains checked in the last 15 minutes lost our nameservers\n',
      stderr: '',
    });
  });

  it('exits with 1 while changes are held, prints the parents and times, and ended trips in the log', async () => {
    await tripBreaker(db, [ALL, COM]);
    const { code, stdout, stderr } = await run('show');
    expect([code, stderr]).toEqual([1, 'if the domains really moved: zonefleet breaker release\n']);
    const SINCE = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(rows(stdout)).toEqual([
      ['PARENT', 'SINCE', 'CHECKED', 'TURNED', 'STATE'],
      ['(all)', SINCE, '812', '240', 'holds status changes'],
      ['com', SINCE, '300', '200', 'holds status changes'],
      [
        'status changes are held; 0 of the 0 active domains checked in the last 15 minutes lost our nameservers',
      ],
    ]);
    await tripBreaker(db, [ALL]);
    await endTrips(db, []);
    expect((await run('show')).stdout).not.toContain('(all)');
    expect(await run('show', '--log')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\(all\) .* ended \d{4}-/m),
    });
  });

  it('prints every figure as JSON', async () => {
    await addCheckCounts(db, [COM]);
    await tripBreaker(db, [COM]);
    const { code, stdout } = await run('show', '--json');
    const counted = { parent: 'com', checked: 300, turned: 200 };
    const open = { released_at: null, released_by: null, ended_at: null, frozen_by: null, reason: null };
    expect([code, JSON.parse(stdout)]).toEqual([
      1,
      {
        held: true,
        checked: 300,
        turned: 200,
        parents: [counted],
        trips: [{ ...counted, ...open, since: expect.any(String), until: null }],
      },
    ]);
  });
});

describe('breaker release', () => {
  const released = async () =>
    (await loadBreaker(db)).trips.map(({ parent, releasedBy }) => [parent, Boolean(releasedBy)]);

  it('releases the hold of one parent, and exits with 1 if nothing is held', async () => {
    expect(await run('release')).toEqual({ code: 1, stdout: '', stderr: 'no status changes are held\n' });
    await tripBreaker(db, [ALL, COM]);
    const none = await run('release', '--parent', 'org');
    expect([none.code, none.stderr]).toEqual([1, 'no status changes of domains under org are held\n']);
    const { code, stdout } = await run('release', '--parent', 'COM');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^released com /)]);
    expect(await released()).toEqual([
      ['', false],
      ['com.', true],
    ]);
    expect((await run('show')).code).toBe(1);
    const again = await run('release', '--parent', 'com.', '--json');
    expect([again.code, JSON.parse(again.stdout)]).toEqual([1, { released: [] }]);
  });
});

describe('breaker freeze', () => {
  it('holds all changes until they are released, and shows the operator and the reason', async () => {
    const before = await lastAudit(db);
    expect(await run('freeze', '--reason', ' The registry said so. ')).toEqual({
      code: 0,
      stdout: 'frozen (all)\n',
      stderr: '',
    });
    const { code, stdout, stderr } = await run('show');
    expect([code, stderr]).toEqual([1, 'to end it: zonefleet breaker release\n']);
    expect(stdout).toMatch(/^\(all\) .* frozen by \S+: The registry said so\.$/m);
    expect((await run('release')).code).toBe(0);
    expect((await loadBreaker(db)).trips).toEqual([]);
    expect((await run('show', '--log')).stdout).toMatch(/^\(all\) .* frozen by .*, released .*, ended /m);
    const rows = await auditAfter(db, before);
    expect(rows.map(({ action, targetName, after }) => [action, targetName, after])).toEqual([
      ['breaker.freeze', '(all)', { reason: 'The registry said so.', until: null }],
      ['breaker.release', '(all)', { checked: 0, turned: 0 }],
    ]);
  });

  it('holds changes under one parent for a time, and prints JSON', async () => {
    await addCheckCounts(db, [COM]);
    const { code, stdout } = await run('freeze', '--reason', 'x', '--parent', 'COM', '--for', '2h', '--json');
    expect(code).toBe(0);
    const { frozen } = JSON.parse(stdout);
    expect(frozen).toMatchObject({
      parent: 'com',
      reason: 'x',
      frozen_by: expect.any(String),
      ended_at: null,
    });
    expect((Date.parse(frozen.until) - Date.parse(frozen.since)) / 3_600_000).toBeCloseTo(2, 1);
    expect((await run('show')).stderr).toBe('to end it: zonefleet breaker release --parent com\n');
    await addCheckCounts(db, [{ parent: 'org.', checked: 1, turned: 0, off: 0 }]);
    expect((await run('freeze', '--reason', 'y', '--parent', 'org')).code).toBe(0);
    expect((await run('show')).stderr).toBe('to end it: zonefleet breaker release\n');
  });

  it.each([
    [['--parent', 'con', '--reason', 'x'], '--parent: "con" is not the parent zone of any domain here'],
    [['--reason', ' '], '--reason: expected 1 to 500 characters'],
    [['--reason', 'x', '--for', '2'], '--for: expected a time such as 90m, 24h or 14d, at most 366d'],
    [['--reason', 'x', '--for', '367d'], '--for: expected a time such as 90m, 24h or 14d, at most 366d'],
  ])('rejects %j', async (args, message) => {
    const { code, stderr } = await run('freeze', ...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect((await loadBreaker(db)).trips).toEqual([]);
  });
});
