import { describe, expect, it } from 'vitest';
import type { TxtEvidence, TxtServerEvidence } from '../../../src/checks/txt/txt-evidence.ts';
import { printName } from '../../../src/dns/name.ts';
import { CLASS } from '../../../src/dns/type-codes.ts';
import type { Exchange } from '../../../src/resolver/exchange/exchange.ts';
import { until } from '../../support/tests/until.ts';
import { COM_A, COM_B, comInternet, testResolver } from '../../support/world/test-resolver.ts';
import {
  answering,
  type Conduct,
  name,
  reply,
  type ZoneExchange,
  zone,
} from '../../support/world/zone-exchange.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

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

/** `ns1.example.com. 5.0.0.1 answer a b`. */
function said(servers: readonly TxtServerEvidence[]): string[] {
  return servers
    .map(({ server, address, outcome, target, values }) =>
      [
        printName(server),
        address || '-',
        outcome,
        ...(target === undefined ? [] : [printName(target)]),
        ...values.map((value) => Buffer.from(value).toString('latin1')),
      ].join(' '),
    )
    .sort();
}

/** `host in zone`. */
const links = (evidence: TxtEvidence) =>
  evidence.links.map((link) => `${printName(link.host)} in ${printName(link.zone)}`);

const siblings = ({ siblings: all }: TxtEvidence) =>
  new Set(
    all.map(({ outcome, targets, values }) =>
      [outcome, ...targets.map(printName), ...values.map((value) => Buffer.from(value).toString())].join(' '),
    ),
  );

const answersOf = (text: string) => recordsOf(text).map((record) => ({ ...record, class: CLASS.IN }));

const askedFor = (exchange: ZoneExchange, text: string) =>
  exchange.asked.filter((asked) => asked.endsWith(` ${text}`));

describe('a TXT record', () => {
  it('is asked for at every address of the zone that holds it', async () => {
    const exchange = world('_svc-challenge TXT "svc-verify=" "abc"\n_svc-challenge TXT two');
    const evidence = await observe(exchange);
    expect(links(evidence)).toEqual(['_svc-challenge.example.com. in example.com.']);
    const [link] = evidence.links;
    expect(said(link?.servers ?? [])).toEqual([
      'ns1.example.com. 5.0.0.1 answer svc-verify=abc two',
      'ns2.example.com. 5.0.0.2 answer svc-verify=abc two',
    ]);
    expect(link?.nameservers.map(printName)).toEqual(['ns1.example.com.', 'ns2.example.com.']);
    expect(evidence).toMatchObject({ host: name(HOST), resolvers: [], failure: undefined });
    expect(evidence.queries).toBe(exchange.packets);
  });

  it('is told from a wildcard by names beside it, and by asking again', async () => {
    const exchange = world('_svc-challenge TXT x');
    const evidence = await observe(exchange);
    expect(siblings(evidence)).toEqual(new Set(['nxdomain']));
    expect(evidence.siblings).toHaveLength(8);
    expect(new Set(evidence.siblings.map((sibling) => sibling.name)).size).toBe(8);
    expect(new Set(said(evidence.links[0]?.again ?? []))).toEqual(
      new Set(['ns1.example.com. 5.0.0.1 answer x', 'ns2.example.com. 5.0.0.2 answer x']),
    );
    // the way, two to confirm it, two, eight beside, four again, two for the SOA: 2 + 2 + 2 + 8 + 4 + 2
    expect(evidence.queries).toBe(20);
    expect(evidence.links[0]?.primaries).toHaveLength(1);
  });

  it('that is nowhere costs no questions for others', async () => {
    const evidence = await observe(world(''));
    expect(said(evidence.links[0]?.servers ?? [])).toEqual([
      'ns1.example.com. 5.0.0.1 nxdomain',
      'ns2.example.com. 5.0.0.2 nxdomain',
    ]);
    expect(evidence.siblings).toEqual([]);
    expect(evidence.queries).toBeLessThan(8);
  });

  it('is shown for each server as that one says', async () => {
    const exchange = world('_svc-challenge TXT x').serve(
      NS_2,
      zone('example.com.', '@ NS ns1\n@ NS ns2\n_svc-challenge A 1.2.3.4'),
    );
    expect(said((await observe(exchange)).links[0]?.servers ?? [])).toEqual([
      'ns1.example.com. 5.0.0.1 answer x',
      'ns2.example.com. 5.0.0.2 nodata',
    ]);
  });

  it.each<[string, ReturnType<Conduct>, string]>([
    ['silent', 'silent', 'timeout'],
    ['refusing', reply({ rcode: 5 }), 'refused'],
    ['failing', reply({ rcode: 2 }), 'servfail'],
    ['lame', reply({}), 'lame'],
    ['out of reach', 'bad', 'bad'],
  ])('is not on a server that is %s', async (_, conduct, outcome) => {
    const exchange = world('_svc-challenge TXT x').behave(NS_2, ({ type }) =>
      type === 'TXT' ? conduct : undefined,
    );
    const evidence = await observe(exchange);
    expect(said(evidence.links[0]?.servers ?? [])).toEqual([
      'ns1.example.com. 5.0.0.1 answer x',
      `ns2.example.com. 5.0.0.2 ${outcome}`,
    ]);
    // Who says nothing is not asked for other names.
    expect(exchange.asked.filter((text) => text.startsWith(NS_2) && text.endsWith(' TXT'))).toHaveLength(1);
  });

  it('counts for nothing without AA', async () => {
    const answers = answersOf(`${HOST} TXT x`);
    const exchange = world('').behave(NS_1, ({ type }) => (type === 'TXT' ? reply({ answers }) : undefined));
    expect(said((await observe(exchange)).links[0]?.servers ?? [])[0]).toBe('ns1.example.com. 5.0.0.1 lame');
  });
});

describe('the nameservers of the zone', () => {
  it('are looked up, all of them, where they come without addresses', async () => {
    const names = Array.from({ length: 6 }, (_, i) => `n${i}.host.com.`);
    const example = zone(
      'example.com.',
      `${names.map((each) => `@ NS ${each}`).join('\n')}\n_svc-challenge TXT x`,
    );
    const exchange = comInternet(
      `${names.map((each) => `example NS ${each}`).join('\n')}\nhost NS ns.host\nns.host A ${OTHER}`,
    ).serve(
      OTHER,
      zone(
        'host.com.',
        `@ NS ns\nns A ${OTHER}\n${names.map((each, i) => `${each} A 5.0.1.${i}`).join('\n')}`,
      ),
    );
    for (let i = 0; i < 6; i++) exchange.serve(`5.0.1.${i}`, example);
    expect(said((await observe(exchange)).links[0]?.servers ?? [])).toEqual(
      names.map((each, i) => `${each} 5.0.1.${i} answer x`),
    );
  });

  it('count also where they have no address that may be asked', async () => {
    const exchange = comInternet(
      `example NS ns1.example\nexample NS gone.host\nexample NS ns3.example\nns1.example A ${NS_1}\nns3.example A 10.0.0.1\nhost NS ns.host\nns.host A ${OTHER}`,
    )
      .serve(NS_1, zone('example.com.', '@ NS ns1\n_svc-challenge TXT x'))
      .serve(OTHER, zone('host.com.', '@ NS ns'));
    expect(said((await observe(exchange)).links[0]?.servers ?? [])).toEqual([
      'gone.host.com. - bad',
      'ns1.example.com. 5.0.0.1 answer x',
      'ns3.example.com. - bad',
    ]);
  });

  it('are asked over both families, once for each address', async () => {
    const glue = `ns1.example A ${NS_1}\nns1.example AAAA 2606::1\nns2.example A ${NS_1}`;
    const example = zone('example.com.', '@ NS ns1\n_svc-challenge TXT x');
    const exchange = comInternet(`example NS ns1.example\nexample NS ns2.example\n${glue}`)
      .serve(NS_1, example)
      .serve('2606::1', example);
    expect(said((await observe(exchange, { hasIpv6: true })).links[0]?.servers ?? [])).toEqual([
      'ns1.example.com. 2606::1 answer x',
      'ns1.example.com. 5.0.0.1 answer x',
    ]);
  });

  it('are those of now, whatever is remembered of the domain', async () => {
    const exchange = world('_svc-challenge TXT old');
    const { resolver, clock } = testResolver(exchange);
    await resolver.observeTxt(name(HOST));
    const com = zone('com.', `@ NS a.gtld.\n@ NS b.gtld.\nexample NS ns.example\nns.example A ${OTHER}`);
    exchange.serve(COM_A, com).serve(COM_B, com);
    exchange.serve(OTHER, zone('example.com.', '@ NS ns\n_svc-challenge TXT new'));
    clock.now += 61_000;
    const evidence = await resolver.observeTxt(name(HOST));
    expect(said(evidence.links[0]?.servers ?? [])).toEqual([`ns.example.com. ${OTHER} answer new`]);
  });

  it('are confirmed by a second address of the zone above', async () => {
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

  it('are confirmed by all servers of the zone above, and so are those of that one', async () => {
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

  it('are not confirmed by one that has nothing of them', async () => {
    const exchange = world('_svc-challenge TXT v').behave(COM_A, ({ name: asked, type }) =>
      asked === 'example.com.' && type === 'NS' ? reply({ rcode: 5 }) : undefined,
    );
    const [delegation] = (await observe(exchange)).links[0]?.delegations ?? [];
    expect(delegation?.servers.map(({ outcome }) => outcome).sort()).toEqual(['referral', 'refused']);
  });
});

describe('a challenge somewhere else', () => {
  it('is followed through its aliases, at every address of each', async () => {
    const exchange = world('_svc-challenge CNAME X.host.com.', { other: 'x CNAME y\ny TXT v' });
    const evidence = await observe(exchange);
    expect(links(evidence)).toEqual([
      '_svc-challenge.example.com. in example.com.',
      'x.host.com. in host.com.',
      'y.host.com. in host.com.',
    ]);
    expect(evidence.links.map(({ servers }) => said(servers))).toEqual([
      ['ns1.example.com. 5.0.0.1 alias x.host.com.', 'ns2.example.com. 5.0.0.2 alias x.host.com.'],
      [`ns.host.com. ${OTHER} alias y.host.com.`],
      [`ns.host.com. ${OTHER} answer v`],
    ]);
    expect(evidence.failure).toBeUndefined();
    expect(siblings(evidence)).toEqual(new Set(['nxdomain']));
    expect(said(evidence.links[2]?.again ?? [])).toEqual([`ns.host.com. ${OTHER} answer v`]);
  });

  it('is found in a zone of its own', async () => {
    const exchange = world(`_svc-challenge NS ns.host.com.`).serve(
      OTHER,
      zone(HOST, '@ NS ns.host.com.\n@ TXT v'),
    );
    const evidence = await observe(exchange);
    expect(links(evidence)).toEqual(['_svc-challenge.example.com. in _svc-challenge.example.com.']);
    expect(said(evidence.links[0]?.servers ?? [])).toEqual([`ns.host.com. ${OTHER} answer v`]);
    expect(evidence.links[0]?.delegations.map((each) => printName(each.zone))).toEqual([
      'example.com.',
      HOST,
    ]);
    // Names beside it are the zone's above.
    expect(siblings(evidence)).toEqual(new Set(['nxdomain']));
    expect(new Set(evidence.siblings.map(({ address }) => address))).toEqual(new Set([NS_1, NS_2]));
    expect(evidence.links[0]?.again).toHaveLength(1);
  });

  it('shows the server that does not delegate it as the others do', async () => {
    const delegates = `@ NS ns1\n@ NS ns2\n_svc-challenge NS ns.host.com.`;
    const exchange = world('_svc-challenge TXT v').serve(NS_2, zone('example.com.', delegates));
    exchange.serve(OTHER, zone(HOST, '@ NS ns.host.com.\n@ TXT v'));
    const evidence = await observe(exchange, { random: () => 0 });
    const words = [
      ...evidence.links.flatMap(({ servers }) => servers.map(({ outcome }) => outcome)),
      ...evidence.links.flatMap(({ delegations }) =>
        delegations.flatMap((each) => each.servers.map(({ outcome }) => outcome)),
      ),
    ];
    expect(words).toEqual(expect.arrayContaining(['referral', 'answer']));
  });

  it.each<[string, string, string, string]>([
    ['leads to itself', '_svc-challenge CNAME a\na CNAME _svc-challenge', 'loop', 'leads back'],
    [
      'has nine aliases',
      `_svc-challenge CNAME a1\n${Array.from({ length: 8 }, (_, i) => `a${i + 1} CNAME a${i + 2}`).join('\n')}\na9 TXT v`,
      'limit',
      'more than 8 aliases',
    ],
    ['leads to the root', '_svc-challenge CNAME .', 'lame', 'leads nowhere'],
  ])('is given up where it %s', async (_, text, reason, message) => {
    const evidence = await observe(world(text));
    expect(evidence.failure).toMatchObject({ reason, message: expect.stringContaining(message) });
    expect(evidence.siblings).toEqual([]);
  });

  it('is followed through eight aliases', async () => {
    const text = Array.from({ length: 7 }, (_, i) => `a${i + 1} CNAME a${i + 2}`).join('\n');
    const evidence = await observe(world(`_svc-challenge CNAME a1\n${text}\na8 TXT v`));
    expect(evidence.failure).toBeUndefined();
    expect(evidence.links).toHaveLength(9);
  });

  it('leads where most servers say', async () => {
    const exchange = world('_svc-challenge CNAME x.host.com.', { other: 'x TXT v' });
    exchange.serve(NS_2, zone('example.com.', '@ NS ns1\n_svc-challenge CNAME other.host.com.'));
    const evidence = await observe(exchange);
    expect(said(evidence.links[0]?.servers ?? [])).toEqual([
      'ns1.example.com. 5.0.0.1 alias x.host.com.',
      'ns2.example.com. 5.0.0.2 alias other.host.com.',
    ]);
    expect(evidence.links).toHaveLength(2);
  });
});

describe('a wildcard', () => {
  it('shows in the values of names beside the challenge', async () => {
    expect(siblings(await observe(world('* TXT v')))).toEqual(new Set(['answer v']));
  });

  it('shows in where they lead, and in what is there', async () => {
    const evidence = await observe(
      world('* CNAME x.host.com.\n_svc-challenge TXT v', { other: 'x CNAME y\ny TXT v' }),
    );
    expect(siblings(evidence)).toEqual(new Set(['alias x.host.com. y.host.com. v']));
  });

  it.each([2, 3, 5])('shows all its targets where it gives each of %i in turn', async (count) => {
    const turn: Record<string, number> = {};
    const give =
      (address: string): Conduct =>
      ({ name: asked, type, honest }) => {
        if (type !== 'TXT') return undefined;
        turn[address] = (turn[address] ?? 0) + 1;
        const target = `t${(turn[address] as number) % count}.host.com.`;
        const answers = answersOf(`${asked} CNAME ${target}`);
        return {
          ...honest(),
          rcode: 0,
          aa: true,
          authorities: [],
          answers,
        };
      };
    const other = Array.from({ length: count }, (_, i) => `t${i} TXT v`).join('\n');
    const exchange = world('', { other }).behave(NS_1, give(NS_1)).behave(NS_2, give(NS_2));
    const evidence = await observe(exchange);
    const targets = new Set(evidence.siblings.flatMap((sibling) => sibling.targets.map(printName)));
    expect(targets.size).toBe(count);
    expect(evidence.siblings.length).toBeGreaterThanOrEqual(24);
  });

  it('does not keep the observation waiting where it leads to silence', async () => {
    const exchange = world('* CNAME x.host.com.\n_svc-challenge TXT v').behave(OTHER, () => 'silent');
    const evidence = await observe(exchange);
    expect(evidence.failure).toBeUndefined();
    expect(siblings(evidence)).toEqual(new Set(['alias x.host.com.']));
  });
});

describe('resolvers of others', () => {
  it('are asked once each, and what they say is only shown', async () => {
    const asked: string[] = [];
    const said: Record<string, ReturnType<typeof reply> | undefined> = {
      '9.9.9.9': reply({ ra: true, rcode: 3 }),
      '8.8.8.8': undefined,
    };
    const exchange: Exchange = {
      async ask(address, { name: wanted }) {
        asked.push(`${address} ${printName(wanted)}`);
        const message = said[address];
        return message === undefined
          ? { kind: 'timeout' }
          : { kind: 'reply', message, transport: 'udp', rttMs: 1 };
      },
      async close() {},
    };
    const publicResolvers = { exchange, addresses: Object.keys(said), rates: { take: async () => {} } };
    const evidence = await observe(world('_svc-challenge TXT v'), { publicResolvers });
    expect(asked.sort()).toEqual([`8.8.8.8 ${HOST}`, `9.9.9.9 ${HOST}`]);
    expect(evidence.resolvers).toEqual([
      { address: '9.9.9.9', values: [], error: undefined },
      { address: '8.8.8.8', values: undefined, error: 'no reply' },
    ]);
    expect(evidence.failure).toBeUndefined();
  });
});

describe('an observation', () => {
  it('ends when nobody wants it any more', async () => {
    const exchange = world('_svc-challenge TXT v').behave(NS_1, () => 'hangs');
    const controller = new AbortController();
    const { resolver } = testResolver(exchange);
    const observed = resolver.observeTxt(name(HOST), { signal: controller.signal });
    await until(() => askedFor(exchange, `${HOST} TXT`).length > 0);
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(observed).rejects.toBe(reason);
  });

  it('is of a name that a domain can have', async () => {
    await expect(testResolver(world('')).resolver.observeTxt(name('.'))).rejects.toThrow('the root');
  });

  it('fails where the way to the zone does', async () => {
    const exchange = world('')
      .behave(COM_A, () => 'silent')
      .behave(COM_B, () => 'silent');
    const evidence = await observe(exchange);
    expect(evidence.failure).toMatchObject({ reason: 'unreachable', zone: name('com') });
    expect(evidence.links).toEqual([]);
  });

  it('stays within its packets, however many servers there are', async () => {
    const names = Array.from({ length: 16 }, (_, i) => `n${i}.example`);
    const glue = names.flatMap((each, i) => Array.from({ length: 8 }, (__, j) => `${each} A 5.1.${i}.${j}`));
    const exchange = comInternet([...names.map((each) => `example NS ${each}`), ...glue].join('\n'));
    const example = zone('example.com.', '@ NS n0\n_svc-challenge TXT v');
    for (let i = 0; i < 16; i++) for (let j = 0; j < 8; j++) exchange.serve(`5.1.${i}.${j}`, example);
    const evidence = await observe(exchange);
    expect(evidence.failure).toMatchObject({ reason: 'limit' });
    expect(evidence.links[0]?.servers).toHaveLength(128);
    expect(exchange.packets).toBeLessThanOrEqual(180);
  });

  it('stays within them where a wildcard leads far too', async () => {
    const names = Array.from({ length: 5 }, (_, i) => `n${i}.example`);
    const at = names.flatMap((each, i) =>
      Array.from({ length: 8 }, (__, j) => [each, `5.1.${i}.${j}`] as const),
    );
    const glue = at.map(([each, address]) => `${each} A ${address}`);
    const ns = names.map((each) => `example NS ${each}`);
    const chains = [0, 1, 2, 3].flatMap((i) =>
      Array.from({ length: 12 }, (_, j) => `t${i}-${j} CNAME t${i}-${j + 1}`),
    );
    const exchange = comInternet([...ns, ...glue, 'host NS ns.host', `ns.host A ${OTHER}`].join('\n'));
    exchange.serve(OTHER, zone('host.com.', `@ NS ns\nns A ${OTHER}\n${chains.join('\n')}`));
    const example = zone('example.com.', '@ NS n0\n_svc-challenge TXT v');
    let turn = 0;
    for (const [, address] of at) {
      exchange
        .serve(address, example)
        .behave(address, ({ name: asked, type }) =>
          type === 'TXT' && asked !== HOST
            ? answering(`${asked} CNAME t${turn++ % 4}-0.host.com.`)
            : undefined,
        );
    }
    const evidence = await observe(exchange);
    expect(evidence.failure).toBeUndefined();
    expect(evidence.links[0]?.servers).toHaveLength(40);
    expect(askedFor(exchange, 't0-0.host.com. TXT')).toHaveLength(1);
    expect(exchange.packets).toBeLessThanOrEqual(180);
    expect(evidence.queries).toBe(exchange.packets);
  });
});
