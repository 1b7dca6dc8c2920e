// Our own nameservers in a small internet: their addresses, their glue, and their answers.

import { describe, expect, it } from 'vitest';
import { judgePool } from '../../../src/checks/nameservers/judge-pool.ts';
import { COM_A, internet, testResolver } from '../../support/world/test-resolver.ts';
import { name, type ZoneExchange, zone } from '../../support/world/zone-exchange.ts';

const NET = '192.5.6.40';
const A = '5.5.5.5';
const B = '6.6.6.6';
const SERVED = name('served.example');
const POOL = {
  lists: [
    [name('ns1.fleet.com'), name('ns2.fleet.com')],
    [name('ns1.fleet.net'), name('ns2.fleet.net')],
  ],
  addresses: [[A], [B]],
};

interface Differences {
  /** Records of com, of fleet.com at our nodes, and the zones at the second address. */
  com?: string;
  fleetCom?: string;
  atB?: 'nothing' | 'silent';
}

function world({ com, fleetCom, atB }: Differences = {}): ZoneExchange {
  const served = zone('served.example.', '@ NS ns1.fleet.com.');
  const ours = [
    zone('fleet.com.', fleetCom ?? `@ NS ns1\n@ NS ns1.fleet.net.\nns1 A ${A}\nns2 A ${A}`),
    zone('fleet.net.', `@ NS ns1\n@ NS ns1.fleet.com.\nns1 A ${B}\nns2 A ${B}`),
  ];
  const made = internet(`com NS a.gtld.\nnet NS n.gtld.\na.gtld. A ${COM_A}\nn.gtld. A ${NET}`)
    .serve(
      COM_A,
      zone('com.', com ?? `@ NS a.gtld.\nfleet NS ns1.fleet\nfleet NS ns1.fleet.net.\nns1.fleet A ${A}`),
    )
    .serve(NET, zone('net.', `@ NS n.gtld.\nfleet NS ns1.fleet\nfleet NS ns1.fleet.com.\nns1.fleet A ${B}`))
    .serve(A, ...ours, served)
    .serve(B, ...ours, ...(atB === undefined ? [served] : []));
  made.behave('7.7.7.7', () => 'silent');
  return atB === 'silent'
    ? made.behave(B, ({ name: asked }) => (asked.startsWith('served') ? 'silent' : undefined))
    : made;
}

async function observe(differences: Differences = {}, { hasZones = true } = {}) {
  const { resolver } = testResolver(world(differences));
  const evidence = await resolver.observePool({
    names: POOL.lists.flat(),
    addresses: POOL.addresses.flat(),
    served: hasZones ? SERVED : undefined,
  });
  return { evidence, faults: judgePool(POOL, evidence).map(({ of, message }) => `${of}: ${message}`) };
}

describe('a pool', () => {
  it('that is published as in its lists has no fault', async () => {
    const { evidence, faults } = await observe();
    expect(faults).toEqual([]);
    expect(evidence.hosts.map(({ addresses }) => addresses)).toEqual([[A], [A], [B], [B]]);
    expect(evidence.glue.filter(({ isNeeded }) => isNeeded)).toHaveLength(2);
    expect(evidence.addresses.map(({ outcome }) => outcome)).toEqual(['answers', 'answers']);
  });

  const fleetCom = (hosts: string) => ({ fleetCom: `@ NS ns1\n@ NS ns1.fleet.net.\n${hosts}` });
  const com = (glue: string) => ({
    com: `@ NS a.gtld.\nfleet NS ns1.fleet\nfleet NS ns1.fleet.net.\n${glue}`,
  });
  it.each<[string, Differences, string[]]>([
    [
      'another address',
      fleetCom(`ns1 A ${A}\nns2 A 7.7.7.7`),
      [`ns2.fleet.com: it lacks ${A}`, 'ns2.fleet.com: it has 7.7.7.7'],
    ],
    ['no address', fleetCom(`ns1 A ${A}`), [`ns2.fleet.com: it lacks ${A}`]],
    [
      'an alias, and an IPv6 address',
      fleetCom(`ns1 A ${A}\nns1 AAAA 2600::1\nns2 CNAME ns1`),
      ['ns1.fleet.com: it has 2600::1', 'ns2.fleet.com: it is an alias'],
    ],
    [
      'other glue',
      com(`ns1.fleet A ${A}\nns1.fleet A 7.7.7.7`),
      ['ns1.fleet.com: the glue in com: it has 7.7.7.7'],
    ],
    ['no glue', com(''), ['ns1.fleet.com: the glue in com is missing']],
    [
      'a server without our zones',
      { atB: 'nothing' },
      [`${B}: no node of this fleet answers there: refused`],
    ],
    ['a silent server', { atB: 'silent' }, [`${B}: no node of this fleet answers there: timeout`]],
  ])('with %s has a fault', async (_, differences, expected) => {
    const { faults } = await observe(differences);
    expect(faults).toEqual(expected.map((start) => expect.stringContaining(start)));
  });

  it('is not queried at addresses that may not be queried, nor before any zone is served', async () => {
    const { resolver } = testResolver(world());
    const observed = await resolver.observePool({
      names: [],
      addresses: ['10.0.0.1', '2600::1'],
      served: SERVED,
    });
    expect(observed.addresses.map(({ outcome, reason }) => [outcome, reason?.split(' ')[0]])).toEqual([
      ['skipped', 'RESOLVER_ALLOW'],
      ['skipped', 'this'],
    ]);
    const { evidence } = await observe({}, { hasZones: false });
    expect(evidence.addresses.map(({ outcome }) => outcome)).toEqual(['skipped', 'skipped']);
  });

  it('is reported name by name if its names cannot be found, and ends when aborted', async () => {
    const { faults } = await observe({ com: '@ NS a.gtld.' });
    expect(faults.filter((fault) => fault.startsWith('ns1.fleet.com: it lacks'))).toHaveLength(1);
    const { resolver } = testResolver(world());
    const pool = { names: POOL.lists.flat(), addresses: [], served: undefined };
    await expect(
      resolver.observePool(pool, { signal: AbortSignal.abort(new Error('stop')) }),
    ).rejects.toThrow('stop');
  });
});
