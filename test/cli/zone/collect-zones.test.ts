import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CollectedZones,
  collectZones,
  type RefusedFile,
  refusedItem,
} from '../../../src/cli/zone/collect-zones.ts';
import { type Name, parseName, printName } from '../../../src/dns/name.ts';
import { makeZoneFolder, smallZone, type ZoneFolder } from '../../support/zone/zone-folder.ts';

let folder: ZoneFolder;
let refused: RefusedFile[];

beforeEach(() => {
  folder = makeZoneFolder();
  refused = [];
});
afterEach(() => folder.remove());

function collect(
  options: { origin?: Name; keepRecords?: number; signal?: AbortSignal } = {},
): Promise<CollectedZones> {
  return collectZones([folder.path], {
    origin: options.origin,
    at: 1_800_000_000,
    keepRecords: options.keepRecords ?? 1000,
    signal: options.signal ?? new AbortController().signal,
    refuse: async (file) => {
      refused.push(file);
    },
  });
}

const names = (collected: CollectedZones) => collected.zones.map(({ apex }) => printName(apex));
const problems = () => refused.flatMap((file) => refusedItem(file).problems ?? []);

it('a bad file keeps no good one from being collected', async () => {
  folder.write('a.zone', smallZone('a.example.'));
  folder.write('b.zone', 'nonsense\n');
  folder.write('c.zone', smallZone('c.example.'));
  const collected = await collect();
  expect(names(collected)).toEqual(['a.example.', 'c.example.']);
  expect(collected).toMatchObject({ files: 3, refused: 1 });
  expect(refused.map(({ file }) => file)).toEqual([join(folder.path, 'b.zone')]);
});

describe('two files for one zone', () => {
  it('are both refused, each naming the other', async () => {
    const one = folder.write('1.zone', smallZone('same.example.'));
    const two = folder.write('2.zone', smallZone('SAME.example.', 'x A 192.0.2.7\n'));
    folder.write('3.zone', smallZone('other.example.'));
    expect(names(await collect())).toEqual(['other.example.']);
    expect(problems()).toEqual([
      `${one}:3:1: same.example. also stands in ${two}; load one of them`,
      `${two}:3:1: same.example. also stands in ${one}; load one of them`,
    ]);
  });

  it('keep the good one out also when the other is bad: which one is meant is not ours to guess', async () => {
    folder.write('1.zone', smallZone('same.example.'));
    folder.write('2.zone', smallZone('same.example.', 'x A nowhere\n'));
    const collected = await collect();
    expect(names(collected)).toEqual([]);
    expect(collected.refused).toBe(2);
  });

  it('of a whole folder name a few of the others and count the rest', async () => {
    for (let i = 0; i < 9; i++) folder.write(`${i}.zone`, smallZone('same.example.'));
    const collected = await collect({ origin: parseName('same.example.') });
    expect(collected).toMatchObject({ files: 9, refused: 9 });
    for (const problem of problems())
      expect(problem).toMatch(/[0-9]\.zone and 5 more files; load one of them$/);
  });
});

it('no more records than the limit wait in memory', async () => {
  for (let i = 0; i < 10; i++) folder.write(`${i}.zone`, smallZone(`z${i}.example.`));
  const collected = await collect({ keepRecords: 10 }); // three a zone
  const kept = collected.zones.filter(({ records }) => records !== undefined);
  expect(kept).toHaveLength(3);
  expect(collected.zones.every(({ count }) => count === 3)).toBe(true);
});

it('an interrupt ends the reading', async () => {
  for (let i = 0; i < 3; i++) folder.write(`${i}.zone`, smallZone(`z${i}.example.`));
  expect((await collect({ signal: AbortSignal.abort() })).zones).toEqual([]);
});
