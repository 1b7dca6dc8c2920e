// A database with zones for all kinds of answers, and network namespaces for nodes that answer over XDP and their client.

import { parseName } from '../../../src/dns/name.ts';
import { addPeer } from '../../../src/store/transfers/peers.ts';
import { setPolicy } from '../../../src/store/transfers/policies.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { createDatabase, type TestDatabase } from '../database/database.ts';
import { DENIAL_STYLES, signedRecords } from '../zone/sign-zone.ts';
import { recordsOf } from '../zone/zone-text.ts';
import { comparedZones } from './compared-queries.ts';
import { ADDRESSES, LinkedHosts, type LinkOptions, XDP_INTERFACE } from './linked-hosts.ts';
import type { Target } from './send-frames.ts';
import { type Agent, startAgent } from './start-agent.ts';
import { DNS_PORT, startXdpNode, type XdpNode } from './xdp-node.ts';

export class XdpLab {
  readonly hosts: LinkedHosts;
  readonly database: TestDatabase;
  readonly client: Agent;
  /** In the namespace of the node. */
  readonly server: Agent;
  readonly #nodes: XdpNode[] = [];

  static async create(options: LinkOptions = {}): Promise<XdpLab> {
    const database = await createDatabase();
    const signed = new Map([
      ['nsec.test.', DENIAL_STYLES[0]],
      ['nsec3.test.', DENIAL_STYLES[1]],
    ]);
    const zones = comparedZones().map((zone) => {
      const apex = parseName(zone.apex);
      const records = recordsOf(zone.text, zone.apex);
      const denial = signed.get(zone.apex);
      return { apex, records: denial === undefined ? records : signedRecords(apex, records, denial) };
    });
    await saveZones(database.db, zones, { source: 'test' });
    const { ipv4, ipv6 } = ADDRESSES.client;
    const networks = [`${ipv4}/32`, `${ipv6}/128`];
    await addPeer(database.db, { name: 'client', addresses: [], port: 53, networks, keyId: null });
    await setPolicy(database.db, { name: 'default', transfers: ['client'], notified: [] });
    return new XdpLab(database, await LinkedHosts.create(options));
  }

  private constructor(database: TestDatabase, hosts: LinkedHosts) {
    this.database = database;
    this.hosts = hosts;
    this.client = startAgent(hosts.client);
    this.server = startAgent(hosts.server);
  }

  /** Starts one more agent, so that two tasks of the client can run concurrently. */
  startClient(): Agent {
    return startAgent(this.hosts.client);
  }

  /** Returns the port of the node, and the MAC addresses of the XDP link. */
  async target(): Promise<Target> {
    return { port: DNS_PORT, macs: await this.hosts.macs() };
  }

  /** Returns true if the interface has an XDP program. */
  async hasProgram(): Promise<boolean> {
    return /\bxdp\b/.test(await this.hosts.server.run('ip', '-d', 'link', 'show', 'dev', XDP_INTERFACE));
  }

  /** @param wrapper a command that replaces itself with the node's process */
  async startNode(
    env: Readonly<Record<string, string>> = {},
    wrapper: readonly string[] = [],
  ): Promise<XdpNode> {
    const { server } = this.hosts;
    const within = { command: (...command: readonly string[]) => server.command(...wrapper, ...command) };
    const node = await startXdpNode(this.hosts, { DATABASE_URL: this.database.url, ...env }, within);
    this.#nodes.push(node);
    return node;
  }

  async stopNodes(): Promise<void> {
    for (const node of this.#nodes.splice(0)) await node.stop('SIGKILL');
  }

  async remove(): Promise<void> {
    await this.stopNodes();
    this.client.stop();
    this.server.stop();
    await this.hosts.remove();
    await this.database.drop();
  }
}
