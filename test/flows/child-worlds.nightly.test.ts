// The checks of the delegated zone in small internets, one per folder of fixtures/child-worlds: real packets to servers
// that are lame, silent or misconfigured, then the findings.

import { describe, expect, it } from 'vitest';
import { CHILD_CODE_LIST } from '../../src/checks/child/child-codes.ts';
import { judgeChild } from '../../src/checks/child/judge-child.ts';
import { readAsnDb } from '../../src/checks/child/read-asn-db.ts';
import { createExchange } from '../../src/resolver/exchange/exchange.ts';
import { createResolver } from '../../src/resolver/resolver.ts';
import { AddressRates } from '../../src/resolver/state/rate-leases.ts';
import { FakeInternet } from '../support/world/fake-internet.ts';
import { readChildExpectations } from '../support/world/read-child-expectations.ts';
import { readWorld, type World, worldFolders } from '../support/world/read-world.ts';

const folders = worldFolders('child-worlds');
const TIMEOUT_MS = 3000;
const TIMEOUT_FOR_SILENCE_MS = 300;

async function check(folder: string, world: World) {
  const { domain, own, asn } = readChildExpectations(folder);
  const internet = await FakeInternet.start(world);
  const isSilent = [...world.servers.values()].some(({ faults }) =>
    faults.some(({ kind }) => kind.startsWith('silent')),
  );
  const resolver = createResolver({
    exchange: createExchange({
      port: 53,
      timeoutMs: isSilent ? TIMEOUT_FOR_SILENCE_MS : TIMEOUT_MS,
      route: internet.route,
    }),
    rootServers: internet.rootServers(),
    allowed: [],
    rates: new AddressRates(50, undefined, Date.now),
    hasIpv6: () => true,
  });
  try {
    const evidence = await resolver.observeChild(domain, { own: own.map((name) => [name]) });
    const asnOf = asn === '' ? undefined : readAsnDb(asn);
    const findings = judgeChild(evidence, { own: new Set(own), asnOf });
    return { evidence, findings, violations: internet.violations, arrived: internet.seen.length };
  } finally {
    await resolver.close();
    await internet.close();
  }
}

describe('a check of the delegated zone', () => {
  it.concurrent.for(
    folders.map((folder) => [folder, readWorld(folder, 'child-worlds')] as const),
  )('%s', async ([folder, world]) => {
    const { findings, evidence, violations, arrived } = await check(folder, world);
    const printed = findings.map(({ code, place }) => (place === 'operator' ? `${code}@operator` : code));
    expect(printed.sort()).toEqual([...readChildExpectations(folder).findings].sort());
    expect(evidence.queries).toBeLessThanOrEqual(40);
    expect(arrived).toBeLessThanOrEqual(evidence.queries);
    // The way back from EDNS is asked on purpose, where nothing came.
    expect(violations.filter((text) => !text.includes('without EDNS'))).toEqual([]);
  });
});

describe('the worlds', () => {
  it('show every code', () => {
    const shown = folders.flatMap((folder) => readChildExpectations(folder).findings);
    const codes = new Set(shown.map((text) => text.split('@')[0]));
    expect(CHILD_CODE_LIST.filter((code) => !codes.has(code))).toEqual([]);
  });
});
