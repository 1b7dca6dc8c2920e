import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { DEMO_APEX, DEMO_NAME, loadDemoOnce, readDemo } from '../../src/start/demo.ts';
import { loadSampleApex } from '../../src/store/first-start.ts';
import { listZones } from '../../src/store/load-zones.ts';
import { saveZones, unloadZones } from '../../src/store/save-zones.ts';
import { buildZone } from '../../src/zone/build-zone.ts';
import { findAnswer } from '../../src/zone/find-answer.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

describe('the demo zone', () => {
  it('is a zone that answers the question of the dig line', () => {
    const { origin, records, problems } = readDemo();
    expect(problems).toEqual([]);
    expect(origin).toBe(parseName(DEMO_APEX));
    const built = buildZone(origin, records);
    if (built.kind !== 'built') throw new Error(JSON.stringify(built.problems));
    const answer = findAnswer(new Map([[origin, built.zone]]), parseName(`${DEMO_NAME}.`), TYPE.A);
    expect(answer.kind).toBe('answer');
  });
});

describe('the demo', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(() => database.drop());

  const apexes = async () => (await listZones(database.db)).map(({ apex }) => apex);
  const own = { apex: parseName('own.example.'), records: [] as ReturnType<typeof readDemo>['records'] };

  it('is loaded into an empty database, and not changed by the next start', async () => {
    await loadDemoOnce(database.db);
    const [first] = await listZones(database.db);
    await loadDemoOnce(database.db);
    expect(await listZones(database.db)).toEqual([first]);
    expect(await apexes()).toEqual([parseName(DEMO_APEX)]);
  });

  it('does not come back once it was unloaded', async () => {
    await loadDemoOnce(database.db);
    await unloadZones(database.db, [parseName(DEMO_APEX)], { source: 'test' });
    await loadDemoOnce(database.db);
    expect(await apexes()).toEqual([]);
  });

  it('stays out of a database that has zones already', async () => {
    await saveZones(database.db, [own], { source: 'test' });
    await loadDemoOnce(database.db);
    expect(await apexes()).toEqual([own.apex]);
  });

  it('gives way to a zone that is there when a question to try is looked for', async () => {
    expect(await loadSampleApex(database.db, DEMO_APEX)).toBeUndefined();
    await loadDemoOnce(database.db);
    await saveZones(database.db, [own], { source: 'test' });
    expect(await loadSampleApex(database.db, DEMO_APEX)).toBe(DEMO_APEX);
    await unloadZones(database.db, [parseName(DEMO_APEX)], { source: 'test' });
    expect(await loadSampleApex(database.db, DEMO_APEX)).toBe('own.example.');
  });
});
