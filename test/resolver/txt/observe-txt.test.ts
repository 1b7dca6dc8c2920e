import { describe, expect, it } from 'vitest';
import type { TxtEvidence, TxtServerEvidence } from '../../../src/checks/txt/txt-evidence.ts';
import { printName } from '../../../src/dns/name.ts';
import type { Exchange } from '../../../src/resolver/exchange/exchange.ts';
import { until } from '../../support/tests/until.ts';
import { COM_A, COM_B, comInternet, testResolver } from '../../support/world/test-resolver.ts';
import {
  answering,
  type Conduct,
  name,
  recordsIn,
  reply,
  type ZoneExchange,
  zone,
} from '../../support/world/zone-exchange.ts';

const HOST = '_svc-challenge.example.com.';
const NS_1 = '5.0.0.1';
const NS_2 = '5.0.0.2';
const OTHER = '5.0.0.3';

/** example.com at two servers with glue, and host.net at a third. */
function world(text: string, { other = '', net = '' } = {}): ZoneExchange {
  const example = zone('example.com.', `@ NS ns1\n@ NS ns2\nns1 A ${NS_1}\nns2 A ${NS_2}\n${text}`);
  const glue = `example NS ns1.example\nexample NS ns2.example\nns1.example A ${NS_1}\nns2.example A ${NS_2}`;
  const host = zone('host.com.', `@ NS ns\nns A ${OTHER}\n${other}`);
  return comInternet(`${glue}\nhost NS ns.host\nns.host A ${OTHER}\n${net}`)
    .serve(NS_1, example)
    .serve(NS_2, example)
    .serve(OTHER, host);
}

async function observe(
  exchange: Exchange,
  options: Parameters<typeof testResolver>[1] = {},
): Promise<TxtEvidence> {
  return testResolver(exchange, options).resolver.observeTxt(name(HOST));
}

/** `ns1 answer a b`, `ns.host alias y.host.com.`. A nameserver without an address has `-`. */
function said(servers: readonly TxtServerEvidence[]): string[] {
  const lines = servers.map(({ server, address, outcome, target, values }) => {
    const label = printName(server).replace('.example.com.', '').replace('.com.', '');
    const texts = values.map((value) => Buffer.from(value).toString('latin1'));
    return [label, address ? '' : '-', outcome, target ? printName(target) : '', ...texts]
      .filter(Boolean)
      .join(' ');
  });
  return lines.sort();
}

const addressesOf = ({ links: [link] }: TxtEvidence) => link?.servers.map(({ address }) => address).sort();

/** `host in zone`. */
const links = (evidence: TxtEvidence) =>
  evidence.links.map((link) => `${printName(link.host)} in ${printName(link.zone)}`);

const siblings = ({ siblings: all }: TxtEvidence) =>
  new Set(
    all.map(({ outcome, targets, values }) =>
      [outcome, ...targets.map(printName), ...values.map((value) => Buffer.from(value).toString())].join(' '),
    ),
  );

const first = (evidence: TxtEvidence) => said(evidence.links[0]?.servers ?? []);

const askedFor = (exchange: ZoneExchange, text: string) =>
  exchange.asked.filter((asked) => asked.endsWith(` ${text}`));

describe('a TXT record', () => {
  it('is queried at every address of the zone that contains it', async () => {
    const exchange = world('_svc-challenge TXT "svc-verify=" "abc"\n_svc-challenge TXT two');
    const evidence = await observe(exchange);
    expect(links(evidence)).toEqual(['_svc-challenge.example.com. in example.com.']);
    expect(addressesOf(evidence)).toEqual([NS_1, NS_2]);
    expect(first(evidence)).toEqual(['ns1 answer svc-verify=abc two', 'ns2 answer svc-verify=abc two']);
    const nameservers = ['ns1.example.com.', 'ns2.example.com.'];
    expect(evidence.links[0]?.nameservers.map(printName)).toEqual(nameservers);
    expect(evidence).toMatchObject({ host: name(HOST), resolvers: [], failure: undefined });
    expect(evidence.queries).toBe(exchange.packets);
  });

  it('is distinguished from a wildcard by sibling names and by repeated queries', async () => {
    const evidence = await observe(world('_svc-challenge TXT x'));
    expect(siblings(evidence)).toEqual(new Set(['nxdomain']));
    expect(new Set(evidence.siblings.map((sibling) => sibling.name)).size).toBe(8);
    expect(new Set(said(evidence.links[0]?.again ?? []))).toEqual(new Set(['ns1 answer x', 'ns2 answer x']));
    // the walk, two to confirm it, two, eight siblings, four repeated, two for the SOA: 2 + 2 + 2 + 8 + 4 + 2
    expect([evidence.queries, evidence.siblings.length]).toEqual([20, 8]);
    expect(evidence.links[0]?.primaries).toHaveLength(1);
  });

  it('that does not exist costs no further queries', async () => {
    const evidence = await observe(world(''));
    expect(first(evidence)).toEqual(['ns1 nxdomain', 'ns2 nxdomain']);
    expect(evidence.siblings).toEqual([]);
    expect(evidence.queries).toBeLessThan(8);
  });

  const withoutAa = { ...answering(`${HOST} TXT x`), aa: false };
  it.each<[string, ReturnType<Conduct>, string]>([
    [
      'has no data',
      reply({ aa: true, authorities: recordsIn([zone('example.com.', '@ NS ns1').soa]) }),
      'nodata',
    ],
    ['is silent', 'silent', 'timeout'],
    ['refuses', reply({ rcode: 5 }), 'refused'],
    ['fails', reply({ rcode: 2 }), 'servfail'],
    ['is lame', reply({}), 'lame'],
    ['answers without AA', withoutAa, 'lame'],
    ['cannot be reached', 'bad', 'bad'],
  ])('is missing at a server that %s, which is not queried again', async (_, conduct, outcome) => {
    const exchange = world('_svc-challenge TXT x').behave(NS_2, ({ type }) =>
      type === 'TXT' ? conduct : undefined,
    );
    expect(first(await observe(exchange))).toEqual(['ns1 answer x', `ns2 ${outcome}`]);
    if (outcome !== 'nodata')
      expect(exchange.asked.filter((text) => text.startsWith(NS_2) && text.endsWith(' TXT'))).toHaveLength(1);
  });
});

describe('the nameservers of the zone', () => {
  it('are all looked up if the delegation has no addresses', async () => {
    const names = Array.from({ length: 6 }, (_, i) => `n${i}.host.com.`);
    const lines = (make: (each: string, i: number) => string) => names.map(make).join('\n');
    const glue = `host NS ns.host\nns.host A ${OTHER}`;
    const addresses = lines((each, i) => `${each} A 5.0.1.${i}`);
    const exchange = comInternet(`${lines((each) => `example NS ${each}`)}\n${glue}`).serve(
      OTHER,
      zone('host.com.', `@ NS ns\nns A ${OTHER}\n${addresses}`),
    );
    const example = zone('example.com.', `${lines((each) => `@ NS ${each}`)}\n_svc-challenge TXT x`);
    for (let i = 0; i < 6; i++) exchange.serve(`5.0.1.${i}`, example);
    const evidence = await observe(exchange);
    expect(first(evidence)).toEqual(names.map((_, i) => `n${i}.host answer x`));
    expect(addressesOf(evidence)).toEqual(names.map((_, i) => `5.0.1.${i}`));
  });

  it('count even if they have no address that may be queried', async () => {
    const exchange = comInternet(
      `example NS ns1.example\nexample NS gone.host\nexample NS ns3.example\nns1.example A ${NS_1}\nns3.example A 10.0.0.1\nhost NS ns.host\nns.host A ${OTHER}`,
    )
      .serve(NS_1, zone('example.com.', '@ NS ns1\n_svc-challenge TXT x'))
      .serve(OTHER, zone('host.com.', '@ NS ns'));
    expect(first(await observe(exchange))).toEqual(['gone.host - bad', 'ns1 answer x', 'ns3 - bad']);
  });

  it('are queried over both families, once per address', async () => {
    const glue = `ns1.example A ${NS_1}\nns1.example AAAA 2606::1\nns2.example A ${NS_1}`;
    const example = zone('example.com.', '@ NS ns1\n_svc-challenge TXT x');
    const exchange = comInternet(`example NS ns1.example\nexample NS ns2.example\n${glue}`)
      .serve(NS_1, example)
      .serve('2606::1', example);
    const evidence = await observe(exchange, { hasIpv6: true });
    expect(first(evidence)).toEqual(['ns1 answer x', 'ns1 answer x']);
    expect(addressesOf(evidence)).toEqual(['2606::1', NS_1]);
  });

  it('are the current ones, regardless of cached data', async () => {
    const exchange = world('_svc-challenge TXT old');
    const { resolver, clock } = testResolver(exchange);
    await resolver.observeTxt(name(HOST));
    const com = zone('com.', `@ NS a.gtld.\n@ NS b.gtld.\nexample NS ns.example\nns.example A ${OTHER}`);
    exchange.serve(COM_A, com).serve(COM_B, com);
    exchange.serve(OTHER, zone('example.com.', '@ NS ns\n_svc-challenge TXT new'));
    clock.now += 61_000;
    const evidence = await resolver.observeTxt(name(HOST));
    expect(first(evidence)).toEqual(['ns answer new']);
  });

  it('are confirmed by a second address of the parent zone', async () => {
    const lie = zone('com.', `@ NS a.gtld.\nexample NS ns.evil\nns.evil A ${OTHER}`);
    const evil = zone('example.com.', '@ NS ns.evil.com.\n_svc-challenge TXT x');
    for (const random of [() => 0, () => 0.99]) {
      const exchange = world('').serve(COM_A, lie).serve(OTHER, evil);
      const [delegation] = (await observe(exchange, { random })).links[0]?.delegations ?? [];
      expect(new Set(delegation?.servers.map(({ ns }) => ns.map(printName).join(' ')))).toEqual(
        new Set(['ns.evil.com.', 'ns1.example.com. ns2.example.com.']),
      );
    }
  });

  it('are confirmed by all servers of the parent zone, and so are those of that zone', async () => {
    const sub = zone('sub.example.com.', '@ NS ns.host.com.\n_svc-challenge TXT v');
    const exchange = world('sub NS ns.host.com.').serve(OTHER, sub);
    const stale = zone('example.com.', '@ NS ns1\nsub NS ns.old.com.');
    exchange.serve(NS_2, stale);
    const names = 'ns1.example.com. ns2.example.com.';
    const { resolver } = testResolver(exchange, { random: () => 0 });
    const evidence = await resolver.observeTxt(name('_svc-challenge.sub.example.com'));
    expect(
      evidence.links[0]?.delegations.map((each) => [
        printName(each.zone),
        each.servers.map(({ address, ns }) => [address, ...ns.map(printName)].join(' ')).sort(),
      ]),
    ).toEqual([
      ['example.com.', [`${COM_B} ${names}`, `${COM_A} ${names}`].sort()],
      ['sub.example.com.', [`${NS_1} ns.host.com.`, `${NS_2} ns.old.com.`]],
    ]);
  });

  it('are not confirmed by a server that refuses', async () => {
    const exchange = world('_svc-challenge TXT v').behave(COM_A, ({ name: asked, type }) =>
      asked === 'example.com.' && type === 'NS' ? reply({ rcode: 5 }) : undefined,
    );
    const [delegation] = (await observe(exchange)).links[0]?.delegations ?? [];
    expect(delegation?.servers.map(({ outcome }) => outcome).sort()).toEqual(['referral', 'refused']);
  });
});

describe('a challenge in another place', () => {
  it('is followed through its aliases, at every address of each', async () => {
    const exchange = world('_svc-challenge CNAME X.host.com.', { other: 'x CNAME y\ny TXT v' });
    const evidence = await observe(exchange);
    expect(links(evidence)).toEqual([
      '_svc-challenge.example.com. in example.com.',
      'x.host.com. in host.com.',
      'y.host.com. in host.com.',
    ]);
    expect(evidence.links.map(({ servers }) => said(servers))).toEqual([
      ['ns1 alias x.host.com.', 'ns2 alias x.host.com.'],
      ['ns.host alias y.host.com.'],
      ['ns.host answer v'],
    ]);
    expect(evidence.failure).toBeUndefined();
    expect(siblings(evidence)).toEqual(new Set(['nxdomain']));
    expect(said(evidence.links[2]?.again ?? [])).toEqual(['ns.host answer v']);
  });

  it('is found in a separate zone', async () => {
    const exchange = world(`_svc-challenge NS ns.host.com.`).serve(
      OTHER,
      zone(HOST, '@ NS ns.host.com.\n@ TXT v'),
    );
    const evidence = await observe(exchange);
    expect(links(evidence)).toEqual(['_svc-challenge.example.com. in _svc-challenge.example.com.']);
    expect(first(evidence)).toEqual(['ns.host answer v']);
    expect(evidence.links[0]?.delegations.map((each) => printName(each.zone))).toEqual([
      'example.com.',
      HOST,
    ]);
    // Its siblings belong to the parent zone.
    expect(siblings(evidence)).toEqual(new Set(['nxdomain']));
    expect(new Set(evidence.siblings.map(({ address }) => address))).toEqual(new Set([NS_1, NS_2]));
    expect(evidence.links[0]?.again).toHaveLength(1);
  });

  it('shows a server that does not delegate it like the others', async () => {
    const delegates = `@ NS ns1\n@ NS ns2\n_svc-challenge NS ns.host.com.`;
    const exchange = world('_svc-challenge TXT v').serve(NS_2, zone('example.com.', delegates));
    exchange.serve(OTHER, zone(HOST, '@ NS ns.host.com.\n@ TXT v'));
    const { links: all } = await observe(exchange, { random: () => 0 });
    const servers = all.flatMap((link) => [link, ...link.delegations]).flatMap((each) => [...each.servers]);
    const outcomes = servers.map(({ outcome }) => outcome);
    expect(outcomes).toEqual(expect.arrayContaining(['referral', 'answer']));
  });

  const aliases = (count: number) => {
    const further = Array.from({ length: count - 1 }, (_, i) => `a${i + 1} CNAME a${i + 2}`);
    return ['_svc-challenge CNAME a1', ...further, `a${count} TXT v`].join('\n');
  };

  it.each([
    ['leads to itself', '_svc-challenge CNAME a\na CNAME _svc-challenge', 'loop', 'leads back'],
    ['has nine aliases', aliases(9), 'limit', 'more than 8 aliases'],
    ['leads to the root', '_svc-challenge CNAME .', 'lame', 'target is missing'],
  ])('fails if it %s', async (_, text, reason, message) => {
    const evidence = await observe(world(text));
    expect(evidence.failure).toMatchObject({ reason, message: expect.stringContaining(message) });
    expect(evidence.siblings).toEqual([]);
  });

  it('is followed through eight aliases', async () => {
    const evidence = await observe(world(aliases(8)));
    expect([evidence.failure, evidence.links.length]).toEqual([undefined, 9]);
  });

  it('leads to the target that most servers have', async () => {
    const exchange = world('_svc-challenge CNAME x.host.com.', { other: 'x TXT v' });
    exchange.serve(NS_2, zone('example.com.', '@ NS ns1\n_svc-challenge CNAME other.host.com.'));
    const evidence = await observe(exchange);
    expect(first(evidence)).toEqual(['ns1 alias x.host.com.', 'ns2 alias other.host.com.']);
    expect(evidence.links).toHaveLength(2);
  });
});

describe('a wildcard', () => {
  it.each([
    ['values', '* TXT v', {}, 'answer v'],
    [
      'targets and values there',
      '* CNAME x.host.com.\n_svc-challenge TXT v',
      { other: 'x CNAME y\ny TXT v' },
      'alias x.host.com. y.host.com. v',
    ],
  ])('is detected by the %s of sibling names', async (_, text, more, expected) => {
    expect(siblings(await observe(world(text, more)))).toEqual(new Set([expected]));
  });

  it.each([2, 3, 5])('is detected by all its targets if it returns each of %i in turn', async (count) => {
    const give = (): Conduct => {
      let turn = 0;
      return ({ name: asked, type }) =>
        type === 'TXT' ? answering(`${asked} CNAME t${++turn % count}.host.com.`) : undefined;
    };
    const other = Array.from({ length: count }, (_, i) => `t${i} TXT v`).join('\n');
    const evidence = await observe(world('', { other }).behave(NS_1, give()).behave(NS_2, give()));
    const targets = new Set(evidence.siblings.flatMap((sibling) => sibling.targets.map(printName)));
    expect(targets.size).toBe(count);
    expect(evidence.siblings.length).toBeGreaterThanOrEqual(24);
  });

  it('does not delay the observation if it leads to silent servers', async () => {
    const exchange = world('* CNAME x.host.com.\n_svc-challenge TXT v').behave(OTHER, () => 'silent');
    const evidence = await observe(exchange);
    expect(evidence.failure).toBeUndefined();
    expect(siblings(evidence)).toEqual(new Set(['alias x.host.com.']));
  });
});

it('public resolvers are queried once each, and their replies are only shown', async () => {
  const asked: string[] = [];
  const replies: Record<string, ReturnType<typeof reply> | undefined> = {
    '9.9.9.9': reply({ ra: true, rcode: 3 }),
    '8.8.8.8': undefined,
  };
  const exchange: Exchange = {
    async ask(address, { name: wanted }) {
      asked.push(`${address} ${printName(wanted)}`);
      const message = replies[address];
      return message ? { kind: 'reply', message, transport: 'udp', rttMs: 1 } : { kind: 'timeout' };
    },
    async close() {},
  };
  const publicResolvers = { exchange, addresses: Object.keys(replies), rates: { take: async () => {} } };
  const evidence = await observe(world('_svc-challenge TXT v'), { publicResolvers });
  expect(asked.sort()).toEqual([`8.8.8.8 ${HOST}`, `9.9.9.9 ${HOST}`]);
  expect(evidence.resolvers).toEqual([
    { address: '9.9.9.9', values: [], error: undefined },
    { address: '8.8.8.8', values: undefined, error: 'no reply' },
  ]);
  expect(evidence.failure).toBeUndefined();
});

describe('an observation', () => {
  it('ends when its signal aborts', async () => {
    const exchange = world('_svc-challenge TXT v').behave(NS_1, () => 'hangs');
    const controller = new AbortController();
    const { resolver } = testResolver(exchange);
    const observed = resolver.observeTxt(name(HOST), { signal: controller.signal });
    await until(() => askedFor(exchange, `${HOST} TXT`).length > 0);
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(observed).rejects.toBe(reason);
  });

  it('rejects for the root', async () => {
    await expect(testResolver(world('')).resolver.observeTxt(name('.'))).rejects.toThrow('the root');
  });

  it('fails if the walk to the zone fails', async () => {
    const exchange = world('')
      .behave(COM_A, () => 'silent')
      .behave(COM_B, () => 'silent');
    const evidence = await observe(exchange);
    expect(evidence.failure).toMatchObject({ reason: 'unreachable', zone: name('com') });
    expect(evidence.links).toEqual([]);
  });

  /** The nameservers of example.com, each with eight addresses. */
  function manyServers(count: number, com = '') {
    const names = Array.from({ length: count }, (_, i) => `n${i}.example`);
    const addresses = names.map((_, i) => Array.from({ length: 8 }, (__, j) => `5.1.${i}.${j}`));
    const glue = names.flatMap((each, i) => addresses[i]?.map((address) => `${each} A ${address}`));
    const exchange = comInternet([...names.map((each) => `example NS ${each}`), ...glue, com].join('\n'));
    const example = zone('example.com.', '@ NS n0\n_svc-challenge TXT v');
    for (const address of addresses.flat()) exchange.serve(address, example);
    return { exchange, addresses: addresses.flat() };
  }

  it('stays within its packets for any number of servers', async () => {
    const { exchange } = manyServers(16);
    const evidence = await observe(exchange);
    expect(evidence.failure).toMatchObject({ reason: 'limit' });
    expect(evidence.links[0]?.servers).toHaveLength(128);
    expect(exchange.packets).toBeLessThanOrEqual(180);
  });

  it('stays within its packets if a wildcard has long chains of aliases', async () => {
    const chains = [0, 1, 2, 3].flatMap((i) =>
      Array.from({ length: 12 }, (_, j) => `t${i}-${j} CNAME t${i}-${j + 1}`),
    );
    const { exchange, addresses } = manyServers(5, `host NS ns.host\nns.host A ${OTHER}`);
    exchange.serve(OTHER, zone('host.com.', `@ NS ns\nns A ${OTHER}\n${chains.join('\n')}`));
    let turn = 0;
    const conduct: Conduct = ({ name: asked, type }) =>
      type === 'TXT' && asked !== HOST ? answering(`${asked} CNAME t${turn++ % 4}-0.host.com.`) : undefined;
    for (const address of addresses) exchange.behave(address, conduct);
    const evidence = await observe(exchange);
    expect(evidence.failure).toBeUndefined();
    expect(evidence.links[0]?.servers).toHaveLength(40);
    expect(askedFor(exchange, 't0-0.host.com. TXT')).toHaveLength(1);
    expect(exchange.packets).toBeLessThanOrEqual(180);
    expect(evidence.queries).toBe(exchange.packets);
  });
});
