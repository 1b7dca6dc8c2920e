import { expect, test } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { buildZone } from '../../src/zone/build-zone.ts';
import { OwnersCheck } from '../../src/zone/check-owners.ts';
import { recordsByOwner } from '../../src/zone/signing/standing.ts';
import { pick, randomFrom } from '../support/random/random-zones.ts';
import { scale } from '../support/tests/scale.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const APEX = parseName('example.');
const OWNERS = ['@', 'a', 'b.a', 'c.b.a', '*', '*.a', 'w'];
const LINES = [
  'A 192.0.2.1',
  'A 192.0.2.2',
  'CNAME x',
  'CNAME y',
  'DNAME example.net.',
  'DNAME example.org.',
  'NS ns',
  'SOA ns h 1 2 3 4 5',
  `DS 1 13 2 ${'00'.repeat(32)}`,
  'NSEC3PARAM 1 0 60 -',
  `TXT ${`"${'x'.repeat(255)}" `.repeat(255)}"${'x'.repeat(220)}"`, // fits into no message
];

test('an owners check finds the problems that buildZone finds', () => {
  const random = randomFrom(5);
  let refused = 0;
  for (let round = 0; round < scale(2000, 100); round++) {
    const lines = Array.from(
      { length: Math.floor(random() * 9) },
      () => `${pick(random, OWNERS)} ${pick(random, LINES)}`,
    );
    const start = random() < 0.9 ? ['@ SOA ns h 1 2 3 4 5', '@ NS ns'] : [];
    const records = recordsOf([...start, ...lines].join('\n'), 'example.');
    if (random() < 0.1) records.push(...recordsOf('outside.test. A 192.0.2.1'));
    const built = buildZone(APEX, records);
    const dnames = new Set(records.flatMap(({ owner, type }) => (type === TYPE.DNAME ? [owner] : [])));
    const check = new OwnersCheck(APEX, (name) => dnames.has(name));
    for (const ofOwner of recordsByOwner(records).values()) check.add(ofOwner);
    const wanted = built.kind === 'refused' ? built.problems.map(({ message }) => message) : [];
    if (wanted.length > 0) refused++;
    expect(
      check
        .end()
        .map(({ message }) => message)
        .sort(),
    ).toEqual(wanted.toSorted());
  }
  expect(refused).toBeGreaterThan(50);
});
