// Starts of a node over XDP: without rights, next to another program, as another user, with limits, other MTUs and queues.

import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { queryFor, summarize } from '../../support/answer/packets.ts';
import type { Endpoint } from '../../support/network/datagrams.ts';
import { ADDRESSES, XDP_INTERFACE } from '../../support/network/linked-hosts.ts';
import { NEEDS_NETWORKS } from '../../support/network/namespace.ts';
import { XdpLab } from '../../support/network/xdp-lab.ts';
import { DNS_PORT, type XdpNode } from '../../support/network/xdp-node.ts';

const SERVER = { address: ADDRESSES.xdp.ipv4, port: DNS_PORT };
const SERVER_IPV6 = { address: ADDRESSES.xdp.ipv6, port: DNS_PORT };
const KERNEL = { address: ADDRESSES.kernel.ipv4, port: DNS_PORT };
const SECOND = { address: ADDRESSES.xdp.ipv4, port: 5354 };
const from = (port: number) => ({ address: ADDRESSES.client.ipv4, port });
const USES_XDP = '"msg":"answering UDP with XDP at this interface"';
const USES_KERNEL =
  '"msg":"XDP cannot be used at this interface: its queries take the path through the kernel"';
const TRIES = 50;
const BURST = 1000; // fewer than a ring holds
const PER_SECOND = 50;

describe.skipIf(NEEDS_NETWORKS !== '')(`a node with DNS_IO=xdp${NEEDS_NETWORKS}`, () => {
  let lab: XdpLab;

  beforeAll(async () => {
    lab = await XdpLab.create();
  });

  afterEach(async () => {
    await lab.stopNodes();
  });

  afterAll(async () => {
    await lab?.remove();
  });

  const count = (node: XdpNode, text: string) => node.log().split(text).length - 1;
  const answers = async (to: Endpoint) => await lab.client.do('queryUntilAnswered', to, TRIES);

  it('answers through the kernel without rights, and logs the reason once', async () => {
    const node = await lab.startNode({ DNS_LISTEN: `${SECOND.address}:${SECOND.port}` }, [
      ...['setpriv', '--bounding-set=-all,+dac_override', '--inh-caps=-all'],
    ]);
    await answers(SECOND);
    expect(count(node, USES_KERNEL)).toBe(1);
    expect(node.log()).toMatch(/"reason":"[^"]*CAP_NET_ADMIN/);
    expect(await lab.hasProgram()).toBe(false);
  });

  it('answers through the kernel next to another program, and logs the reason once', async () => {
    await lab.startNode();
    const second = await lab.startNode({
      DNS_LISTEN: `${SECOND.address}:${SECOND.port}`,
      METRICS_LISTEN: '127.0.0.1:9154',
      NODE_NAME: 'second',
    });
    await answers(SERVER);
    await answers(SECOND);
    expect(count(second, USES_KERNEL)).toBe(1);
    expect(second.log()).toMatch(/"reason":"[^"]*another program is attached/);
  });

  it('answers through the kernel if the interface does not exist or has no Ethernet frames', async () => {
    const node = await lab.startNode({ XDP_INTERFACES: 'eth99,lo' });
    await answers(SERVER);
    expect(count(node, USES_KERNEL)).toBe(2);
  });

  it('has no capabilities after its start as root', async () => {
    const node = await lab.startNode({ RUN_AS: 'nobody' });
    expect(node.log()).toContain(USES_XDP);
    const directory = `/proc/${node.child.pid}/task`;
    const held = readdirSync(directory).flatMap((thread) => {
      const status = readFileSync(`${directory}/${thread}/status`, 'utf8');
      return [...status.matchAll(/^Cap(?:Inh|Prm|Eff|Amb):\s*(\S+)$/gm)].map(([, bits]) => bits);
    });
    expect(new Set(held)).toEqual(new Set(['0000000000000000']));
    expect(await lab.hasProgram()).toBe(true);
    await answers(SERVER);
    const { examples } = await lab.client.do('comparePaths', {
      count: 2000,
      seed: 3,
      ...(await lab.target()),
    });
    expect(examples).toEqual([]);
  });

  it('truncates answers that are larger than the MTU', async () => {
    await lab.startNode({ DNS_LISTEN: `${SERVER.address}:${SERVER.port}` });
    const query = queryFor('big.example.test.', 16, { opt: 'size=4096' });
    const lengths: number[] = [];
    for (const mtu of [1500, 1000, 700]) {
      await lab.hosts.server.run('ip', 'link', 'set', XDP_INTERFACE, 'mtu', `${mtu}`);
      const limit = Math.min(1232, mtu - 28);
      // The node follows the MTU.
      for (let i = 0; i < TRIES; i++) {
        const answer = (await lab.client.do('exchangeUdp', SERVER, query)) ?? Buffer.alloc(0);
        expect(decodeMessage(answer).tc).toBe(true);
        lengths.push(answer.length);
        if (answer.length <= limit) break;
        await lab.client.do('queryUntilAnswered', { ...SERVER, port: 1 }, 1).catch(() => {});
      }
      expect(lengths.at(-1)).toBeLessThanOrEqual(limit);
    }
    await lab.hosts.server.run('ip', 'link', 'set', XDP_INTERFACE, 'mtu', '1500');
    await lab.hosts.restoreAddresses();
  });

  it('limits response rates as through the kernel, except for clients with a valid cookie', async () => {
    const node = await lab.startNode({ RRL: `${PER_SECOND}`, RRL_OCTETS: 'off' });
    const answered: number[] = [];
    for (const [i, to] of [SERVER, KERNEL].entries()) {
      await lab.client.do('sendBurst', from(6100 + i), to, BURST);
      answered.push(await lab.client.do('sendBurst', from(6100 + i), to, 0));
    }
    for (const number of answered) {
      expect(number).toBeGreaterThan(PER_SECOND / 2);
      expect(number).toBeLessThan(BURST);
    }
    expect(await node.metric('zonefleet_limited_total')).toBeGreaterThan(BURST);
    expect(await lab.client.do('countWithCookie', from(6102), SERVER, BURST)).toBe(BURST);
  });

  it('answers on all addresses if it listens on wildcards', async () => {
    await lab.startNode({ DNS_LISTEN: `0.0.0.0:${DNS_PORT},[::]:${DNS_PORT}` });
    for (const to of [SERVER, SERVER_IPV6, KERNEL]) await answers(to);
    const { examples } = await lab.client.do('comparePaths', {
      count: 2000,
      seed: 4,
      ...(await lab.target()),
    });
    expect(examples).toEqual([]);
  });

  it('does not use XDP if the hardware removes the tags of VLANs', async () => {
    await lab.hosts.server.run('ethtool', '-K', XDP_INTERFACE, 'rxvlan', 'on');
    const node = await lab.startNode();
    await lab.hosts.server.run('ethtool', '-K', XDP_INTERFACE, 'rxvlan', 'off');
    expect(node.log()).toContain('its hardware removes VLAN tags');
    await answers(SERVER);
  });

  it('accepts queries whose checksums the kernel leaves to the device', async () => {
    await lab.hosts.client.run('ethtool', '-K', XDP_INTERFACE, 'tx', 'on');
    await lab.startNode();
    await answers(SERVER);
    await answers(SERVER_IPV6);
    await lab.hosts.client.run('ethtool', '-K', XDP_INTERFACE, 'tx', 'off');
  });

  it('counts answers over XDP like others', async () => {
    const node = await lab.startNode();
    const before = await node.metric('zonefleet_queries_total');
    await lab.client.do('sendBurst', from(6200), SERVER, 100);
    expect(await lab.client.do('sendBurst', from(6200), SERVER, 0)).toBe(100);
    expect(await node.metric('zonefleet_queries_total')).toBe(before + 100);
  });
});

it.skipIf(NEEDS_NETWORKS !== '')(
  `a node answers on all queues of an interface${NEEDS_NETWORKS}`,
  async () => {
    const lab = await XdpLab.create({ queues: 2 });
    try {
      const node = await lab.startNode({ DNS_THREADS: '2' });
      expect(node.log()).toMatch(/"queues":2/);
      for (let i = 0; i < 32; i++) {
        await lab.client.do('sendBurst', from(6300 + i), SERVER, 10);
        expect(await lab.client.do('sendBurst', from(6300 + i), SERVER, 0)).toBe(10);
      }
      expect(
        summarize(
          (await lab.client.do('exchangeUdp', SERVER_IPV6, queryFor('www.example.test.', 1))) as Buffer,
        ),
      ).toMatch(/^NOERROR/);
    } finally {
      await lab.remove();
    }
  },
);
