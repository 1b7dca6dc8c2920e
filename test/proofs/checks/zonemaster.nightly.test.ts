// Our check of the delegated zone beside Debian's zonemaster-cli, on the same small internets: every world of
// fixtures/child-worlds, and some again before they are delegated to. Both run in a network namespace of their own.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scale } from '../../support/tests/scale.ts';
import { readWorld, worldFolders } from '../../support/world/read-world.ts';
import { type Answer, compare, TESTS } from '../../support/zonemaster/compare.ts';
import { missingForZonemaster, ZonemasterNetwork } from '../../support/zonemaster/zonemaster-network.ts';

const ALL = worldFolders('child-worlds');
const REDUCED = ['healthy', 'glue-differs', 'one-name', 'server-refuses', 'tcp-refused', 'timers-too-low'];
const FOLDERS = scale(1, 0) === 1 ? ALL : REDUCED;
const GIVEN = ['healthy', 'server-lame', 'tcp-refused', 'serials-differ', 'timers-too-low', 'same-address'];
const GIVEN_FOLDERS = GIVEN.filter((folder) => FOLDERS.includes(folder));
const LEAST_AGREEMENT = 0.95;

/** Where both differ, by world and test case, and why. Some of it depends on which server Zonemaster asks first. */
const KNOWN: readonly { readonly world: RegExp; readonly tests: RegExp; readonly why: string }[] = [
  {
    world: /^serials-a-minute-apart$/,
    tests: /^consistency01$/,
    why: `serials that are times may differ by an hour here: docs/rules.md "The child's checks"`,
  },
  {
    world: /^(only-in-the-zone|no-name-in-common|sets-differ)$/,
    tests: /^consistency05$/,
    why: 'a name that the parent does not have can have no glue there; NS_ONLY_IN_ZONE tells it here',
  },
  {
    world: /^sets-differ$/,
    tests: /^nameserver06$/,
    why: 'Zonemaster looks up only the names of the first set, and calls those of the other unresolvable',
  },
  {
    world: /^server-lame(, given)?$/,
    tests: /^(delegation01|delegation07|connectivity01|nameserver06|consistency05)$/,
    why: 'Zonemaster takes the empty reply of a lame server for the word that a server has no address',
  },
];

const missing = missingForZonemaster();
const suffix = missing === '' ? '' : ` (skipped: needs ${missing})`;

const addressesOf = (folder: string) => [...readWorld(folder, 'child-worlds').servers.keys()];
const serversOf = (folder: string) => {
  const first = ['5.3.0.1', '2a0b:3::1'];
  const second = folder === 'same-address' ? first : ['5.4.0.1', '2a0b:4::1'];
  return [
    ...first.map((address) => `ns1.example.com/${address}`),
    ...second.map((address) => `ns2.example.com/${address}`),
  ];
};

const HINTS = `. 3600000 NS a.root.
. 3600000 NS b.root.
a.root. 3600000 A 5.0.0.1
b.root. 3600000 AAAA 2a0b::2
`;

interface Compared extends Answer {
  readonly world: string;
}

const agrees = ({ ours, theirs }: Answer) => ours === theirs;

describe.skipIf(missing !== '')(`a check of the delegated zone, beside Zonemaster${suffix}`, () => {
  let namespace: ZonemasterNetwork;
  const compared: Compared[] = [];

  beforeAll(
    async () => {
      namespace = await ZonemasterNetwork.make([...new Set(ALL.flatMap(addressesOf))], HINTS);
      const runs = [
        ...FOLDERS.map((folder) => ({ folder, servers: [] as string[] })),
        ...GIVEN_FOLDERS.map((folder) => ({ folder, servers: serversOf(folder) })),
      ];
      for (const { folder, servers } of runs) {
        const ours = await namespace.look(folder, servers);
        const messages = await namespace.zonemaster('example.com', TESTS, servers);
        const world = servers.length === 0 ? folder : `${folder}, given`;
        compared.push(...compare(ours, messages).map((answer) => ({ ...answer, world })));
      }
    },
    scale(30 * 60_000, 180_000),
  );
  afterAll(() => namespace?.remove());

  it('agrees in at least 95 of 100 questions that both decide', () => {
    expect(compared.length).toBeGreaterThan(FOLDERS.length * 10);
    expect(compared.filter(agrees).length / compared.length).toBeGreaterThanOrEqual(LEAST_AGREEMENT);
  });

  it('differs only where the reason is known', () => {
    const differing = compared.filter((answer) => !agrees(answer));
    const unmeant = differing.filter(
      (answer) => !KNOWN.some(({ world, tests }) => world.test(answer.world) && tests.test(answer.test)),
    );
    expect(
      unmeant.map(({ world, test, codes, ours }) => `${world}: ${test} ${codes} is ${ours} here`),
    ).toEqual([]);
  });

  it('finds what Zonemaster finds, and not nothing', () => {
    expect(compared.filter(({ ours, theirs }) => ours && theirs).length).toBeGreaterThanOrEqual(
      REDUCED.length - 1,
    );
  });
});
