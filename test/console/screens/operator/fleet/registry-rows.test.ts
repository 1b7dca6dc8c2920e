import { expect, it } from 'vitest';
import { registryRows } from '../../../../../console/src/screens/operator/fleet/registry-rows.ts';

it('puts all domains first, then what is held, then the registries where most turned away', () => {
  const rows = registryRows({
    checked: 100,
    turned: 25,
    parents: [
      { parent: 'fine', checked: 40, turned: 0 },
      { parent: 'small', checked: 8, turned: 4 },
      { parent: 'large', checked: 200, turned: 9 },
      { parent: 'many', checked: 40, turned: 20 },
      { parent: 'held', checked: 20, turned: 5 },
    ],
    trips: [
      { id: 2, parent: 'held', checked: 20, turned: 5 },
      { id: 1, parent: 'many', checked: 9, turned: 9, ended_at: '2026-11-28T11:00:00Z' },
    ],
  });
  expect(rows.map(({ parent, condition, share }) => [parent, condition, share])).toEqual([
    [undefined, 'many', 0.25],
    ['held', 'held', 0.25],
    ['many', 'many', 0.5],
    ['large', 'some', 0.045],
    ['small', 'some', 0.5],
    ['fine', 'fine', 0],
  ]);
});

it('says that all is held where a trip names no zone, and divides by nothing where nothing was looked at', () => {
  const trips = [{ id: 1, checked: 0, turned: 0 }];
  expect(registryRows({ checked: 0, turned: 0, parents: [], trips })).toEqual([
    { parent: undefined, checked: 0, turned: 0, share: 0, condition: 'held' },
  ]);
});
