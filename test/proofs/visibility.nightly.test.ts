// How long it takes from a commit until three followers hold the change, through the store and the feed alone; what the
// command line and sockets add is timed by load-to-answer.

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Wakeup } from '../../src/process/reconnect.ts';
import { saveZones } from '../../src/store/zones/save-zones.ts';
import { createDatabase, type TestDatabase } from '../support/database/database.ts';
import { type FollowingNode, followLoaded, smallZone } from '../support/processes/follow.ts';
import { scale } from '../support/tests/scale.ts';
import { until } from '../support/tests/until.ts';

const EDITS = scale(200, 40);
const ZONES = scale(5000, 500);
const BY = { source: 'test' } as const;

let database: TestDatabase;
let nodes: FollowingNode[];
let onApplied: () => void = () => undefined;

beforeAll(async () => {
  database = await createDatabase();
  for (let from = 0; from < ZONES; from += 500) {
    await saveZones(
      database.db,
      Array.from({ length: 500 }, (_, i) => smallZone(`z${from + i}.example.`, 1)),
      BY,
    );
  }
  nodes = await Promise.all(
    ['a', 'b', 'c'].map((nodeName) =>
      followLoaded({ databaseUrl: database.url, nodeName, onApplied: () => onApplied() }),
    ),
  );
});

afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  vi.restoreAllMocks();
  await database.drop();
});

test(`a committed change is held by three nodes as soon as they are told (${EDITS} edits)`, async () => {
  const { wait } = Wakeup.prototype;
  vi.spyOn(Wakeup.prototype, 'wait').mockImplementation(function (this: Wakeup) {
    return wait.call(this, 2 ** 31 - 1); // they look when they are told, and at no other time
  });
  const times: number[] = [];
  for (let i = 0; i < EDITS; i++) {
    const zone = smallZone(`z${(i * 7) % ZONES}.example.`, 2 + i, `new${i} A 192.0.2.9`);
    let heldMs = 0;
    const held = () => nodes.every((node) => node.zones.get(zone.apex)?.serial === 2 + i);
    const look = () => {
      if (heldMs === 0 && held()) heldMs = performance.now();
    };
    onApplied = look;
    await saveZones(database.db, [zone], BY);
    const committedMs = performance.now();
    await until(() => {
      look();
      return heldMs > 0;
    });
    times.push(Math.max(0, heldMs - committedMs));
  }
  expect(times).toHaveLength(EDITS);
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  console.log(`p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, of ${EDITS} edits`);
});
