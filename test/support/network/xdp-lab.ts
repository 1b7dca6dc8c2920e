// A node that answers over XDP, its client in another network namespace, and zones with all kinds of answers.

import { parseName } from '../../../src/dns/name.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { createDatabase, type TestDatabase } from '../database/database.ts';
import { DENIAL_STYLES, signedRecords } from '../zone/sign-zone.ts';
import { recordsOf } from '../zone/zone-text.ts';
import { comparedZones } from './compared-queries.ts';
import { LinkedHosts, type LinkOptions } from './linked-hosts.ts';
import { type Agent, startAgent } from './start-agent.ts';
import { startXdpNode, type XdpNode } from './xdp-node.ts';

export class XdpLab {
  readonly hosts: LinkedHosts;
  readonly database: TestDatabase;
  readonly client: Agent;
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
    return new XdpLab(database, await LinkedHosts.create(options));
  }

  private constructor(database: TestDatabase, hosts: LinkedHosts) {
    this.database = database;
    this.hosts = hosts;
    this.client = startAgent(hosts.client);
  }

  async startNode(env: Readonly<Record<string, string>> = {}): Promise<XdpNode> {
    const node = await startXdpNode(this.hosts, { DATABASE_URL: this.database.url, ...env });
    this.#nodes.push(node);
    return node;
  }

  async remove(): Promise<void> {
    for (const node of this.#nodes) await node.stop('SIGKILL');
    this.client.stop();
    await this.hosts.remove();
    await this.database.drop();
  }
}
