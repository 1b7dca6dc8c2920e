// A server and a client in separate network namespaces with two links: `zf0` for XDP, and `zf1`, on which the kernel answers.
// The client has one address of each family, so that both paths answer the same client.

import { NetworkNamespace } from './namespace.ts';

/** Addresses for benchmarks (RFC 2544) and documentation (RFC 9637). */
export const ADDRESSES = {
  xdp: { ipv4: '198.18.0.1', ipv6: '3fff:0:0::1' },
  kernel: { ipv4: '198.18.1.1', ipv6: '3fff:0:1::1' },
  client: { ipv4: '198.18.0.2', ipv6: '3fff:0:0::2' },
} as const;
export const XDP_INTERFACE = 'zf0';
export const KERNEL_INTERFACE = 'zf1';
/** The VLAN that a node uses on the XDP link if it is started with these options of Node.js. */
export const VLAN = 7;
export const VLAN_NODE_OPTIONS = `--import=${new URL('./fake-vlan.mjs', import.meta.url)}?${XDP_INTERFACE}.${VLAN}`;
const DEFAULT_MTU = 1500;

export interface LinkOptions {
  /** The namespace of the server; by default a new one. */
  readonly server?: NetworkNamespace;
  /** Number of receive and transmit queues of each end of the XDP link; 1 by default. */
  readonly queues?: number;
  readonly mtu?: number;
}

export class LinkedHosts {
  readonly server: NetworkNamespace;
  readonly client: NetworkNamespace;

  static async create({ server, queues = 1, mtu = DEFAULT_MTU }: LinkOptions = {}): Promise<LinkedHosts> {
    const ends: NetworkNamespace[] = [];
    try {
      const hosts = new LinkedHosts(server ?? (await created(ends)), await created(ends));
      await hosts.#link(XDP_INTERFACE, queues, mtu);
      await hosts.#link(KERNEL_INTERFACE, 1, mtu);
      await hosts.#configure();
      return hosts;
    } catch (error) {
      for (const end of ends) await end.remove();
      throw error;
    }
  }

  private constructor(server: NetworkNamespace, client: NetworkNamespace) {
    this.server = server;
    this.client = client;
  }

  /** Adds a link with an IPv4 address at each end. */
  async addLink(name: string, server: string, client: string): Promise<void> {
    await this.#link(name, 1, DEFAULT_MTU);
    await this.server.run('ip', 'address', 'add', `${server}/24`, 'dev', name);
    await this.client.run('ip', 'address', 'add', `${client}/24`, 'dev', name);
  }

  async #link(name: string, queues: number, mtu: number): Promise<void> {
    const end = ['numrxqueues', `${queues}`, 'numtxqueues', `${queues}`, 'mtu', `${mtu}`];
    const peer = ['peer', 'name', name, ...end, 'netns', `${this.client.pid}`];
    await this.server.run('ip', 'link', 'add', name, ...end, 'type', 'veth', ...peer);
    for (const host of [this.server, this.client]) {
      // Otherwise the kernel leaves the checksums of UDP packets to a device that does not exist, and does not show VLAN
      // tags to programs.
      await host.run('ethtool', '-K', name, 'tx', 'off', 'rxvlan', 'off', 'txvlan', 'off');
      await host.run('sysctl', '-qw', `net.ipv4.conf.${name}.rp_filter=0`);
      await host.run('ip', 'link', 'set', name, 'up');
    }
  }

  async #configure(): Promise<void> {
    const { server, client } = this;
    // Answers to the client leave through zf0 even if the query arrived at zf1.
    for (const host of [server, client]) await host.run('sysctl', '-qw', 'net.ipv4.conf.all.rp_filter=0');
    await address(server, XDP_INTERFACE, ADDRESSES.xdp);
    await address(server, KERNEL_INTERFACE, ADDRESSES.kernel);
    await address(client, XDP_INTERFACE, ADDRESSES.client);
    await client.run('ip', 'route', 'add', `${ADDRESSES.kernel.ipv4}/32`, 'dev', KERNEL_INTERFACE);
    await client.run('ip', '-6', 'route', 'add', `${ADDRESSES.kernel.ipv6}/128`, 'dev', KERNEL_INTERFACE);
  }

  /** The kernel removes the IPv6 addresses of an interface that goes down, or whose MTU is below 1280. */
  async restoreAddresses(): Promise<void> {
    const address = `${ADDRESSES.xdp.ipv6}/48`;
    await this.server.run('ip', 'address', 'replace', address, 'dev', XDP_INTERFACE, 'nodad');
  }

  /** Returns the MAC addresses of the two ends of the XDP link. */
  async macs(): Promise<{ readonly server: Uint8Array; readonly client: Uint8Array }> {
    const of = async (host: NetworkNamespace) =>
      Buffer.from(
        (await host.run('cat', `/sys/class/net/${XDP_INTERFACE}/address`)).replaceAll(/[:\n]/g, ''),
        'hex',
      );
    return { server: await of(this.server), client: await of(this.client) };
  }

  async remove(): Promise<void> {
    await this.client.remove();
    await this.server.remove();
  }
}

async function created(list: NetworkNamespace[]): Promise<NetworkNamespace> {
  const namespace = await NetworkNamespace.create();
  list.push(namespace);
  return namespace;
}

async function address(
  host: NetworkNamespace,
  name: string,
  { ipv4, ipv6 }: { ipv4: string; ipv6: string },
): Promise<void> {
  await host.run('ip', 'address', 'add', `${ipv4}/24`, 'dev', name);
  await host.run('ip', 'address', 'add', `${ipv6}/48`, 'dev', name, 'nodad');
}
