// Queries to the nameservers of a domain, and their limits.

import { describe, expect, it } from 'vitest';
import { judgeChild } from '../../../src/checks/child/judge-child.ts';
import { parseNetwork } from '../../../src/dns/record/network.ts';
import { comInternet, internet, testResolver } from '../../support/world/test-resolver.ts';
import { name, zone } from '../../support/world/zone-exchange.ts';

const DOMAIN = name('example.com');
const NS1 = '5.3.0.1';
const NS2 = '5.4.0.1';
const CHILD = `@ NS ns1\n@ NS ns2\nns1 A ${NS1}\nns2 A ${NS2}`;
const DELEGATION = `example NS ns1.example\nexample NS ns2.example\nns1.example A ${NS1}\nns2.example A ${NS2}`;

const child = zone('example.com.', CHILD);
const healthy = () => comInternet(DELEGATION).serve(NS1, child).serve(NS2, child);

describe('a check of the delegated zone', () => {
  it('finds the glue and the addresses, and queries each address for SOA, NS and the SOA over TCP', async () => {
    const exchange = healthy();
    const { resolver } = testResolver(exchange);
    const evidence = await resolver.observeChild(DOMAIN);
    expect(evidence).toMatchObject({ parent: name('com'), isComplete: true, failure: undefined });
    expect(evidence.servers).toEqual(
      [
        ['ns1.example.com', NS1],
        ['ns2.example.com', NS2],
      ].map(([server = '', address = '']) => ({
        name: name(server),
        isAtParent: true,
        isInZone: true,
        glue: [address],
        found: { kind: 'found', addresses: [address] },
      })),
    );
    for (const address of [NS1, NS2]) {
      const asked = exchange.asked.filter((text) => text.startsWith(`${address} example.com. `)).sort();
      expect(asked).toEqual(['NS', 'SOA', 'SOA'].map((type) => `${address} example.com. ${type}`));
    }
    expect(evidence.queries).toBe(exchange.packets);
    expect(evidence.queries).toBeLessThanOrEqual(40);
  });

  it('reports why there is no delegation to check', async () => {
    const { resolver } = testResolver(comInternet('other A 1.2.3.4'));
    const evidence = await resolver.observeChild(DOMAIN);
    expect(evidence).toMatchObject({
      servers: [],
      addresses: [],
      failure: expect.stringContaining('does not delegate'),
    });
  });

  it('rejects for the root, and with the reason of its signal', async () => {
    const { resolver } = testResolver(healthy());
    await expect(resolver.observeChild(name('.'))).rejects.toThrow('the root has no parent');
    await expect(
      resolver.observeChild(DOMAIN, { signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough');
  });
});

describe('the limits', () => {
  it('no private address is queried, regardless of glue or zone, unless it is allowed', async () => {
    const text = CHILD.replace(NS2, '10.0.0.1');
    const exchange = comInternet(DELEGATION.replace(NS2, '10.0.0.1')).serve(NS1, zone('example.com.', text));
    const { resolver, taken } = testResolver(exchange);
    const evidence = await resolver.observeChild(DOMAIN);
    expect(taken).not.toContain('10.0.0.1');
    expect(evidence.addresses).toMatchObject([
      { isPrivate: false },
      { isPrivate: true, soa: { outcome: 'unasked' } },
    ]);

    const lab = testResolver(exchange.serve('10.0.0.1', zone('example.com.', text)), {
      allowed: [parseNetwork('10.0.0.0/8') as NonNullable<ReturnType<typeof parseNetwork>>],
    });
    const allowed = await lab.resolver.observeChild(DOMAIN);
    expect(allowed.addresses).toMatchObject([{ soa: { outcome: 'answer' } }, { soa: { outcome: 'answer' } }]);
  });

  it.each([
    'silent',
    undefined,
  ] as const)('at most 40 packets are sent to many servers (%s)', async (conduct) => {
    const all = Array.from({ length: 60 }, (_, i) => ({ label: `ns${i}`, address: `5.9.${i}.1` }));
    const lines = (owner: string, below: string) =>
      all
        .map(({ label, address }) => `${owner} NS ${label}${below}\n${label}${below} A ${address}`)
        .join('\n');
    const exchange = comInternet(lines('example', '.example'));
    const named = zone('example.com.', lines('@', ''));
    for (const { address } of all) exchange.serve(address, named).behave(address, () => conduct);
    const evidence = await testResolver(exchange).resolver.observeChild(DOMAIN);
    expect(exchange.packets).toBeLessThanOrEqual(40);
    expect(evidence.isComplete).toBe(false);
    expect(new Set(evidence.addresses.map(({ address }) => address)).size).toBeLessThanOrEqual(8);
  });

  it('names without addresses cause no additional packets to other servers (NXNS)', async () => {
    const labels = Array.from({ length: 30 }, (_, i) => `example NS a${i}.victim.com.`).join('\n');
    const exchange = comInternet(`${labels}\nvictim NS ns.victim\nns.victim A 5.8.0.1`).serve(
      '5.8.0.1',
      zone('victim.com.', '@ NS ns\nns A 5.8.0.1'),
    );
    const { resolver } = testResolver(exchange);
    await resolver.observeChild(DOMAIN);
    expect(exchange.packets).toBeLessThanOrEqual(40);
  });

  it('IPv6 is not used if this machine has none, which says nothing about the server', async () => {
    const both = `${CHILD}\nns1 AAAA 2a0b::1\nns2 AAAA 2a0b:1::1`;
    const exchange = comInternet(`${DELEGATION}\nns1.example AAAA 2a0b::1\nns2.example AAAA 2a0b:1::1`)
      .serve(NS1, zone('example.com.', both))
      .serve(NS2, zone('example.com.', both));
    const { resolver } = testResolver(exchange, { hasIpv6: false });
    const evidence = await resolver.observeChild(DOMAIN);
    expect(evidence.addresses.map(({ address }) => address)).toEqual([NS1, NS2]);
    const codes = judgeChild(evidence, { own: new Set() }).map(({ code }) => code);
    expect(codes.filter((code) => !code.startsWith('SOA_'))).toEqual([]);
  });
});

describe('our own nameservers', () => {
  const own = [[name('ns1.example.com')], [name('ns2.example.com')]];

  it('are queried for SOA and NS of each domain, and over TCP once in five minutes for all', async () => {
    const others = ['example', 'other'];
    const delegations = others.map((label) => `${label} NS ns1.example\n${label} NS ns2.example`).join('\n');
    const exchange = comInternet(`${delegations}\nns1.example A ${NS1}\nns2.example A ${NS2}`);
    const other = zone('other.com.', '@ NS ns1.example.com.\n@ NS ns2.example.com.');
    exchange.serve(NS1, child, other).serve(NS2, child, other);
    const { resolver, clock } = testResolver(exchange);
    const asked = async (label: string) => {
      exchange.takeAsked();
      await resolver.observeChild(name(`${label}.com`), { own });
      return exchange
        .takeAsked()
        .filter((text) => text.startsWith(NS1) && text.includes(` ${label}.com. `))
        .map((text) => text.split(' ')[2])
        .sort();
    };
    expect(await asked('example')).toEqual(['NS', 'SOA', 'SOA']);
    expect(await asked('other')).toEqual(['NS', 'SOA']);
    clock.now += 300_001;
    expect(await asked('other')).toEqual(['NS', 'SOA', 'SOA']);
  });

  it('of one list are queried at one address', async () => {
    const exchange = healthy();
    const { resolver } = testResolver(exchange);
    const evidence = await resolver.observeChild(DOMAIN, { own: [own.flat()] });
    expect(evidence.addresses).toHaveLength(1);
  });
});

describe('a given delegation', () => {
  const given = {
    ns: [name('ns1.example.com'), name('ns2.example.com')],
    glue: [
      { name: name('ns1.example.com'), address: NS1 },
      { name: name('ns2.example.com'), address: NS2 },
    ],
  };

  it('is tested at its servers without querying the parent', async () => {
    const exchange = internet('').serve(NS1, child).serve(NS2, child);
    const { resolver } = testResolver(exchange);
    const evidence = await resolver.observeChild(DOMAIN, { given });
    expect(evidence).toMatchObject({ parent: undefined, isComplete: true });
    expect(evidence.addresses.map(({ soa }) => soa.outcome)).toEqual(['answer', 'answer']);
    expect(exchange.asked.filter((text) => !text.startsWith(NS1) && !text.startsWith(NS2))).toEqual([]);
  });
});
