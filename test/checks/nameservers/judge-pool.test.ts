import { expect, it } from 'vitest';
import { judgePool } from '../../../src/checks/nameservers/judge-pool.ts';
import type { HostEvidence, PoolEvidence } from '../../../src/checks/nameservers/pool-evidence.ts';
import { parseName } from '../../../src/dns/name.ts';

const A = parseName('ns1.fleet-a.example.');
const B = parseName('ns1.fleet-b.example.');
const POOL = { lists: [[A], [B]], addresses: [['192.0.2.1', '2001:db8::1'], ['198.51.100.1']] };

const host = (name: typeof A, addresses: string[], rest: Partial<HostEvidence> = {}): HostEvidence => ({
  name,
  addresses,
  isAlias: false,
  failure: undefined,
  ...rest,
});
const GOOD: PoolEvidence = {
  hosts: [host(A, ['2001:db8::1', '192.0.2.1']), host(B, ['198.51.100.1'])],
  glue: [{ name: A, parent: parseName('example.'), addresses: ['192.0.2.1', '2001:db8::1'], isNeeded: true }],
  unseen: [],
  addresses: [
    { address: '192.0.2.1', outcome: 'answers', reason: undefined },
    { address: '2001:db8::1', outcome: 'skipped', reason: 'this machine has no IPv6' },
  ],
};
const faults = (seen: Partial<PoolEvidence>) =>
  judgePool(POOL, { ...GOOD, ...seen }).map(({ of, message }) => `${of}: ${message}`);

it('a pool that matches its lists has no fault', () => {
  expect(faults({})).toEqual([]);
});

it('a name must have exactly the addresses of its list', () => {
  expect(faults({ hosts: [host(A, ['192.0.2.1']), host(B, ['198.51.100.1', '203.0.113.9'])] })).toEqual([
    'ns1.fleet-a.example: it lacks 2001:db8::1',
    'ns1.fleet-b.example: it has 203.0.113.9, which are not in its list',
  ]);
  expect(faults({ hosts: [host(B, ['192.0.2.1'])] })).toHaveLength(2);
  expect(faults({ hosts: [host(A, [], { isAlias: true })] })).toEqual([
    expect.stringMatching(/^ns1\.fleet-a\.example: it is an alias/),
  ]);
  expect(faults({ hosts: [host(A, [], { failure: 'no reply' })] })).toEqual([
    'ns1.fleet-a.example: the lookup of its addresses failed: no reply',
  ]);
});

it('glue must match the list, and exist if resolvers cannot find the name without it', () => {
  const parent = parseName('example.');
  const glue = (addresses: string[], isNeeded: boolean) =>
    faults({ glue: [{ name: A, parent, addresses, isNeeded }] });
  expect(glue(['192.0.2.1'], true)).toEqual([
    'ns1.fleet-a.example: the glue in example: it lacks 2001:db8::1',
  ]);
  expect(glue(['192.0.2.1', '2001:db8::1', '192.0.2.9'], false)).toEqual([
    'ns1.fleet-a.example: the glue in example: it has 192.0.2.9, which are not in its list',
  ]);
  expect(glue([], true)).toEqual([expect.stringContaining('the glue in example is missing')]);
  expect(glue([], false)).toEqual([]);
});

it('every delegation must be found, and a node must answer at every address that can be queried', () => {
  expect(faults({ unseen: [{ zone: parseName('fleet-a.example.'), failure: 'no reply' }] })).toEqual([
    'fleet-a.example: its delegation could not be checked: no reply',
  ]);
  expect(faults({ addresses: [{ address: '192.0.2.1', outcome: 'fails', reason: 'timeout' }] })).toEqual([
    '192.0.2.1: no node of this fleet answers there: timeout',
  ]);
});
