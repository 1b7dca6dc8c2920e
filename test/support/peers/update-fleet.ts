// A node and an API process that accept dynamic updates, with their own Postgres server, which a test may kill.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { OPERATOR_LIMITS } from '../../../src/store/postgres/deadlines.ts';
import { runCli } from '../cli/run-cli.ts';
import { asRole, databaseUrl, runOn, TEMPLATE_DATABASE } from '../database/database.ts';
import { newAccount, newDomain } from '../database/domains.ts';
import { SIGNING_SECRETS, useSecrets } from '../database/signed-zones.ts';
import { startServer } from '../database/start-server.ts';
import { type ApiProcess, startApi } from '../processes/api-process.ts';
import { freePort } from '../processes/free-port.ts';
import { type NodeProcess, startNode } from '../processes/nodes.ts';
import { fileIn, pageText } from '../tests/documented.ts';
import { until } from '../tests/until.ts';
import { runProgram } from '../validators/run-program.ts';

const DATABASE = 'updates';
const LOCAL = '127.0.0.1';
/**
 * Address of the node at port 53, for clients that cannot use another port. The node has it only if it runs as root. Each
 * test process has its own address.
 */
const PORT_53 = `127.77.${(process.pid >> 8) & 255}.${process.pid & 255}`;
const EXAMPLE_KEY = /\w+-x7k2p5\./g;
const KEY_LINE = /[\w+/]{43}=/g;

export interface UpdateKey {
  /** With the final dot. */
  readonly name: string;
  /** In base64. */
  readonly secret: string;
  /** `algorithm:name:secret`, for `-y`. */
  readonly text: string;
}

export class UpdateFleet {
  api!: ApiProcess;
  node!: NodeProcess;
  readonly db: Database;
  /** For the files of clients. */
  readonly directory: string;
  /** Port of the node at 127.0.0.1. */
  readonly port: number;
  readonly databaseUrl: string;
  readonly #env = {
    DNS_UPDATE: 'on',
    TSIG_SECRETS: `one:${randomBytes(32).toString('base64')}`,
    KEY_SECRETS: SIGNING_SECRETS.map(({ name, secret }) => `${name}:${secret.toString('base64')}`).join(),
  };
  readonly #stopServer: () => Promise<void>;
  #accountId: number | undefined;

  static async start(): Promise<UpdateFleet> {
    const server = await startServer('embedded');
    // In a copy made through the write-ahead log, indexes of unlogged tables are unusable after a crash (PostgreSQL 18).
    await runOn(server, `create database ${DATABASE} template ${TEMPLATE_DATABASE} strategy file_copy`);
    const directory = await mkdtemp(join(tmpdir(), 'zonefleet-updates-'));
    const fleet = new UpdateFleet(databaseUrl(server, DATABASE), directory, await freePort(), server.stop);
    try {
      await fleet.startApi();
      await fleet.startNode();
    } catch (error) {
      await fleet.stop();
      throw error;
    }
    return fleet;
  }

  private constructor(url: string, directory: string, port: number, stopServer: () => Promise<void>) {
    this.databaseUrl = url;
    this.directory = directory;
    this.port = port;
    this.#stopServer = stopServer;
    this.db = openDatabase(url, { limits: OPERATOR_LIMITS });
    useSecrets(this.db);
  }

  async startApi(): Promise<void> {
    this.api = await startApi(this.databaseUrl, { env: this.#env });
  }

  async startNode(): Promise<void> {
    const listen = [`${LOCAL}:${this.port}`, ...(process.getuid?.() === 0 ? [`${PORT_53}:53`] : [])];
    const settings = { DATABASE_URL: asRole(this.databaseUrl, 'zonefleet_node'), DNS_LISTEN: listen.join() };
    this.node = await startNode('updates', { ...settings, ...this.#env });
  }

  /** Creates a domain, given without the final dot, of which nodes serve all records. */
  async addDomain(name: string): Promise<number> {
    this.#accountId ??= await newAccount(this.db, 'owner@example.org');
    return (await newDomain(this.db, this.#accountId, `${name}.`)).id;
  }

  /** Runs a command of an operator. Throws unless it succeeds. */
  async cli(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await runCli(args, { databaseUrl: this.databaseUrl, env: this.#env });
    if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${stdout}${stderr}`);
    return stdout;
  }

  /** Creates a key and allows it names. Resolves when the node has it. */
  async createKey(label: string, ...grants: readonly (readonly string[])[]): Promise<UpdateKey> {
    const { name, secret } = JSON.parse(await this.cli('--json', 'tsig', 'create', label));
    for (const grant of grants) await this.cli('update', 'allow', name, ...grant);
    const key = { name, secret, text: `hmac-sha256:${name}:${secret}` };
    await until(
      async () => !/tsig/i.test(await this.dig('.', 'SOA', '-y', key.text)),
      `the node has ${name}`,
    );
    return key;
  }

  /** Runs the commands of a page of docs/tools that create a key, which may change `names` too, and use it. */
  async createDocumentedKey(page: string, ...names: readonly string[]): Promise<UpdateKey> {
    const [create, ...others] = [...pageText(page).matchAll(/^ {4}npx zonefleet (.*)$/gm)].map(
      ([, line = '']) => inTest(line),
    );
    const [, label] = /^tsig create (\w+)$/.exec(create ?? '') ?? [];
    const allow = others.filter((line) => line.startsWith('update allow '));
    if (label === undefined || allow.length === 0)
      throw new Error(`docs/tools/${page}.md does not create a key`);
    const grants = allow.map((line) => line.split(' ').slice(3));
    const key = await this.createKey(label, ...grants.map((grant) => [...names, ...grant]));
    for (const line of others.filter((each) => !allow.includes(each)))
      await this.cli(...line.replace(EXAMPLE_KEY, key.name).split(' '));
    return key;
  }

  /** Returns what dig prints with +short. */
  async dig(...args: readonly string[]): Promise<string> {
    const { text } = await runProgram('dig', [
      `@${LOCAL}`,
      '-p',
      `${this.port}`,
      '+short',
      '+time=5',
      ...args,
    ]);
    return text.trim();
  }

  /** Writes the example of a page of docs/tools with the values of this fleet. Returns its path. */
  async writeExample(
    page: string,
    title: string,
    key: UpdateKey,
    change = (text: string) => text,
  ): Promise<string> {
    const path = join(this.directory, title);
    const text = inTest(fileIn(page, title))
      .replaceAll(EXAMPLE_KEY, key.name)
      .replaceAll(KEY_LINE, key.secret)
      .replaceAll(/192\.0\.2\.1(?!\d)/g, page === 'dhcpd' ? PORT_53 : LOCAL)
      .replaceAll(/("port": |_port = )53\b/g, `$1${this.port}`);
    await writeFile(path, change(text), { mode: 0o600 });
    return path;
  }

  async stop(): Promise<void> {
    await Promise.all([this.api?.stop(), this.node?.stop()]);
    await this.db.destroy();
    await this.#stopServer();
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** Replaces the network of the pages, which may be that of the machine. */
function inTest(text: string): string {
  return text.replaceAll('2.0.192.in-addr', '113.0.203.in-addr');
}
