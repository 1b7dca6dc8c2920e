// A fleet that exchanges zones with other servers on loopback. Configure peers before starting nodes: each then has the
// configuration when it is ready.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Name, parseName, printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { typeMnemonic } from '../../../src/dns/type-codes.ts';
import { addSecondary } from '../../../src/features/secondaries/sql-manage.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { createKey, importKey } from '../../../src/store/transfers/keys.ts';
import { type PeerTls, WITHOUT_TLS } from '../../../src/store/transfers/peer-tls.ts';
import { addPeer } from '../../../src/store/transfers/peers.ts';
import { setPolicy } from '../../../src/store/transfers/policies.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { isEdgeMark, isMark, type ZoneRecord } from '../../../src/zone/zone.ts';
import { asRole, createDatabase, type TestDatabase } from '../database/database.ts';
import { freePort } from '../processes/free-port.ts';
import { type NodeProcess, startNode } from '../processes/nodes.ts';
import { startProxy, type TcpProxy } from '../processes/tcp-proxy.ts';
import { startWorkers, type WorkersProcess } from '../processes/workers-process.ts';
import { startTogether } from '../tests/start-together.ts';
import { readMetric } from '../watching/read-metric.ts';
import { recordsOf } from '../zone/zone-text.ts';
import {
  type PeerTlsStart,
  startTransferPeer,
  type TransferKey,
  type TransferPeer,
  type TransferPeerName,
} from './transfer-peers.ts';

const LOOPBACK = '127.0.0.1';
/** Unsigned queries from this address may transfer every zone. */
export const UNSIGNED = '127.0.0.2';
const SECRET = { name: 'one', secret: Buffer.alloc(32, 9) };

/** A peer of the fleet, whose server need not run. */
export interface FleetPeer {
  readonly name: string;
  readonly port: number;
  readonly key: TransferKey;
}

interface ServerStart {
  /** Zones without the final dot. */
  readonly zones: readonly string[];
  /** Zone files by name, of a primary. */
  readonly files?: Readonly<Record<string, string>>;
  readonly tls?: PeerTlsStart;
}

export class TransferFleet {
  readonly nodes: NodeProcess[] = [];
  readonly workers: WorkersProcess[] = [];
  readonly #database: TestDatabase;
  /** Between the nodes and Postgres. */
  readonly proxy: TcpProxy;
  readonly #servers: TransferPeer[] = [];

  static async create(): Promise<TransferFleet> {
    const database = await createDatabase();
    const fleet = new TransferFleet(database, await startProxy(asRole(database.url, 'zonefleet_node')));
    const noKey = { addresses: [], port: 53, networks: [`${UNSIGNED}/32`], keyId: null };
    await addPeer(fleet.db, { name: 'unsigned', ...noKey });
    await fleet.setPolicy();
    return fleet;
  }

  private constructor(database: TestDatabase, proxy: TcpProxy) {
    this.#database = database;
    this.proxy = proxy;
  }

  get db(): Database {
    return this.#database.db;
  }

  /** Stores a peer with a key, and chooses the port of its server. The key of a primary is one that it has chosen. */
  async addPeer(
    name: string,
    {
      isPrimary = false,
      algorithm = 'hmac-sha256',
      port,
      tls = WITHOUT_TLS,
    }: {
      isPrimary?: boolean;
      algorithm?: 'hmac-sha256' | 'hmac-sha384' | 'hmac-sha512';
      port?: number;
      tls?: PeerTls;
    } = {},
  ): Promise<FleetPeer> {
    const base = { accountId: null, algorithm };
    const stored = isPrimary
      ? await importKey(this.db, [SECRET], { ...base, name: `${name}.`, secret: Buffer.alloc(32, name) })
      : await createKey(this.db, [SECRET], { ...base, label: name });
    if (stored.kind !== 'stored') throw new Error(stored.kind);
    const { key } = stored;
    const place = { addresses: [LOOPBACK], port: port ?? (await freePort()) };
    const networks = isPrimary ? [] : [`${LOOPBACK}/32`];
    await addPeer(this.db, { name, ...place, networks, keyId: key.id, tls });
    const secret = Buffer.from(stored.secret).toString('base64');
    return { name, port: place.port, key: { name: key.name, algorithm, secret } };
  }

  /** Lets the peers transfer every zone and notifies them. */
  async setPolicy(...peers: readonly Pick<FleetPeer, 'name'>[]): Promise<void> {
    const names = peers.map(({ name }) => name);
    await setPolicy(this.db, { name: 'default', transfers: ['unsigned', ...names], notified: names });
  }

  async startNodes(count: number, env: Readonly<Record<string, string>> = {}): Promise<void> {
    const settings = {
      DATABASE_URL: this.proxy.url,
      TSIG_SECRETS: `${SECRET.name}:${SECRET.secret.toString('base64')}`,
      ...env,
    };
    const starting = Array.from({ length: count }, (_, i) => startNode(`node-${i}`, settings));
    this.nodes.push(...(await startTogether(starting)));
  }

  async startWorkers(count = 1, env: Readonly<Record<string, string>> = {}): Promise<void> {
    const settings = { TSIG_SECRETS: `${SECRET.name}:${SECRET.secret.toString('base64')}`, ...env };
    const starting = Array.from({ length: count }, () => startWorkers(this.#database.url, settings));
    this.workers.push(...(await startTogether(starting)));
  }

  async stopWorkers(): Promise<void> {
    await Promise.all(this.workers.splice(0).map((each) => each.stop()));
  }

  /** Starts the server of a peer that is a secondary of the first node. */
  async startSecondary(
    program: TransferPeerName,
    peer: FleetPeer,
    start: ServerStart,
  ): Promise<TransferPeer> {
    const primary = this.nodes[0]?.address.port;
    return await this.#startServer(program, { ...peer, ...start, primary });
  }

  /** Starts the server of a peer that is a primary, which notifies all nodes. Its zones need not be copied yet. */
  async startPrimary(program: TransferPeerName, peer: FleetPeer, start: ServerStart): Promise<TransferPeer> {
    const notified = this.nodes.map(({ address }) => address.port);
    return await this.#startServer(program, { ...peer, ...start, notified, primary: undefined });
  }

  async #startServer(
    program: TransferPeerName,
    options: Parameters<typeof startTransferPeer>[1],
  ): Promise<TransferPeer> {
    const server = await startTransferPeer(program, options);
    this.#servers.push(server);
    return server;
  }

  /** Copies zones, given without the final dot, from a primary. */
  async copyZones(from: FleetPeer, ...zones: readonly string[]): Promise<void> {
    for (const zone of zones) {
      const added = await addSecondary(this.db, { zone: `${zone}.`, from: [from.name], maxRecords: null });
      if (added.kind !== 'added') throw new Error(added.message);
    }
  }

  /** Saves operator zones, given without the final dot, as `zone load` does. */
  async saveZones(serial: number, zones: readonly string[], lines: readonly string[] = []): Promise<void> {
    const text = zoneText(serial, lines);
    const changed = zones.map((zone) => {
      const apex = parseName(`${zone}.`);
      return { apex, records: recordsOf(text, `${zone}.`) };
    });
    await saveZones(this.db, changed, { source: 'test' });
  }

  /** Returns the sum of a metric of a node over the lines that begin with `name`. */
  metric(name: string, node = this.nodes[0] as NodeProcess): Promise<number> {
    return readMetric(node.metricsUrl, name);
  }

  async stop(): Promise<void> {
    await this.stopWorkers();
    await Promise.all([...this.#servers, ...this.nodes].map((each) => each.stop()));
    await this.proxy.stop();
    await this.#database.drop();
  }
}

/** Returns the text of a small zone. REFRESH is an hour, so that only NOTIFY explains a fast refresh. */
export function zoneText(serial: number, lines: readonly string[] = []): string {
  return [
    '$TTL 300',
    `@ SOA ns1 host ${serial} 3600 60 604800 60`,
    '@ NS ns1',
    'ns1 A 192.0.2.1',
    ...lines,
    '',
  ].join('\n');
}

/** Runs dig. Returns its output, also if the server does not answer or refuses. */
export async function dig(port: number, ...args: readonly string[]): Promise<string> {
  const options = [`@${LOOPBACK}`, '-p', `${port}`, '+time=20', '+tries=1', ...args];
  return await promisify(execFile)('dig', options, { maxBuffer: 1 << 28 }).then(
    ({ stdout }) => stdout,
    (error) => String(error.stdout),
  );
}

/** Returns the records that a server transfers with dig, as lines. Empty if it does not. */
export async function transferred(port: number, apex: Name, ...args: readonly string[]): Promise<string[]> {
  const stdout = await dig(port, '+noall', '+answer', '+onesoa', printName(apex), 'AXFR', ...args);
  return stdout.includes('SOA') ? linesOf(recordsOf(stdout, printName(apex))) : [];
}

/**
 * Returns records as sorted lines, without those that no query returns, and without the TTL of NSEC3PARAM and its
 * signature, which yadifa changes to 0.
 */
export function linesOf(records: readonly ZoneRecord[]): string[] {
  return records
    .filter((one) => !isMark(one) && !isEdgeMark(one))
    .map(
      ({ owner, ttl, type, rdata }) =>
        `${printName(owner)} ${ttl} ${typeMnemonic(type)} ${printRdata(type, rdata)}`,
    )
    .map((line) => line.replace(/ \d+ (RRSIG NSEC3PARAM|NSEC3PARAM) /, ' $1 '))
    .sort();
}
