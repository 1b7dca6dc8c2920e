import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addVantage, noteVantageSeen } from '../../../src/store/vantage/vantages.ts';
import { VantageWatch } from '../../../workers/rounds/watch-vantages.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();
let watch: VantageWatch;
let told: string[];
beforeEach(async () => {
  told = [];
  watch = new VantageWatch(database.db, {
    onAway: (away) => told.push(away.join(' ')),
    onTrouble: (error) => told.push(error.message),
    idleMs: 10,
  });
});
afterEach(async () => {
  await watch.stop();
});

const add = (name: string, network: string, address: string | null = null) =>
  addVantage(database.db, { name, network, publicKey: name, address });
const age = (minutes: number) =>
  sql`update vantages set created_at = created_at - make_interval(mins => ${minutes}),
    seen_at = seen_at - make_interval(mins => ${minutes})`.execute(database.db);

test('a vantage that has not asked for ten minutes is told once, and again when it is back', async () => {
  await add('a', 'ams');
  await add('b', 'fra');
  for (const name of ['a', 'b']) await noteVantageSeen(database.db, name, null);
  await age(9);
  watch.start();
  await expect.poll(() => watch.state()).toEqual({ vantages: 2, voices: 2, isAsked: true, away: [] });
  expect(watch.warnings()).toEqual([]);
  await age(2);
  await expect.poll(() => watch.state().away).toEqual(['a', 'b']);
  expect(watch.warnings()).toEqual([
    'observer a has been away for over 10 minutes: zonefleet vantage list',
    'observer b has been away for over 10 minutes: zonefleet vantage list',
  ]);
  await noteVantageSeen(database.db, 'a', null);
  await expect.poll(() => watch.state().away).toEqual(['b']);
  await noteVantageSeen(database.db, 'b', null);
  await expect.poll(() => watch.warnings()).toEqual([]);
  expect(told).toEqual(['a b', 'b', '']);
});

test('vantages that are of one network, or turn out to stand in one, are told', async () => {
  await add('a', 'ams', '192.0.2.1');
  watch.start();
  await expect.poll(() => watch.warnings()).toEqual([expect.stringContaining('none is asked')]);
  await noteVantageSeen(database.db, 'a', null);
  await add('b', 'fra', '192.0.2.2');
  await expect.poll(() => watch.state()).toMatchObject({ vantages: 2, voices: 1, isAsked: false });
  expect(watch.warnings()).toEqual([expect.stringContaining('none is asked')]);
  await noteVantageSeen(database.db, 'b', null);
  await expect.poll(() => watch.warnings()).toEqual([expect.stringContaining('count as one voice')]);
  await add('c', 'lon', '198.51.100.1');
  await noteVantageSeen(database.db, 'c', null);
  await expect.poll(() => watch.warnings()).toEqual([]);
});

test('without vantages there is nothing to tell', async () => {
  watch.start();
  await expect.poll(() => watch.state()).toEqual({ vantages: 0, voices: 0, isAsked: false, away: [] });
  expect(watch.warnings()).toEqual([]);
});
