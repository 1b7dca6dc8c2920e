// A network of its own: a network namespace with a small internet as that network sees it, whatever others see, and programs of
// ours in it. It needs root; everything is removed at the end.

import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { missingForNamespaces, NetworkNamespace } from '../world/network-namespace.ts';

const CHILD = fileURLToPath(new URL('./network-child.ts', import.meta.url));
/** The way to the API, in each network. */
const API_PORT = 8053;
const ROOT_SERVER = '198.51.100.1';
const REGISTRY = ['198.51.100.2', '198.51.100.3'];

/** What is missing for such networks, for a test's name; empty when nothing is. */
export function needsNetworks(): string {
  const missing = missingForNamespaces();
  return missing === '' ? '' : ` (skipped: needs ${missing})`;
}

/** A request to the API as it passed. */
export interface Passed {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** By label below `zz`: the names of its servers. */
export type Delegations = Readonly<Record<string, readonly string[]>>;

export class SmallNetwork {
  readonly label: string;
  /** For programs in it. */
  readonly settings: Readonly<Record<string, string>>;
  readonly apiUrl = `http://127.0.0.1:${API_PORT}`;
  /** What was asked of the API from here. */
  readonly passed: Passed[] = [];
  readonly #namespace: NetworkNamespace;
  #delegations: Delegations = {};
  #way: Server | undefined;
  #isCut = false;

  private constructor(label: string, namespace: NetworkNamespace) {
    this.label = label;
    this.#namespace = namespace;
    this.settings = {
      ROOT_HINTS: join(namespace.folder, 'root.hints'),
      RESOLVER_ALLOW: '198.51.100.0/24',
      PUBLIC_RESOLVERS: 'off',
    };
  }

  /** `apiPort`: of the API, on the loopback interface outside. */
  static async make(label: string, apiPort: () => number): Promise<SmallNetwork> {
    const namespace = await NetworkNamespace.make(label, [ROOT_SERVER, ...REGISTRY]);
    const network = new SmallNetwork(label, namespace);
    try {
      const hints = `. 3600000 NS a.root.\na.root. 3600000 A ${ROOT_SERVER}\n`;
      await writeFile(join(namespace.folder, 'root.hints'), hints);
      const socketPath = join(namespace.folder, 'api.sock');
      network.#way = await network.#openWay(socketPath, apiPort);
      namespace.startChild(CHILD, [String(API_PORT), socketPath]);
      await network.show({});
      return network;
    } catch (error) {
      await network.stop();
      throw error;
    }
  }

  /** How a program is started in this network. */
  within(program: string): { readonly command: string; readonly args: readonly string[] } {
    return this.#namespace.within(program);
  }

  /** The registry shows this here from now on, besides what it showed. */
  async show(delegations: Delegations): Promise<void> {
    this.#delegations = { ...this.#delegations, ...delegations };
    await this.#namespace.ask(JSON.stringify(worldOf(this.#delegations)));
  }

  /** Nothing reaches the API from here any more, until it is healed. */
  cut(): void {
    this.#isCut = true;
    this.#way?.closeAllConnections();
  }

  heal(): void {
    this.#isCut = false;
  }

  /** A proxy to the API that keeps what passes. */
  async #openWay(socketPath: string, apiPort: () => number): Promise<Server> {
    const way = createServer(async (incoming, outgoing) => {
      if (this.#isCut) return void incoming.destroy();
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const { method, url: path = '/', headers } = incoming;
      const body = Buffer.concat(chunks);
      this.passed.push({ path, headers, body });
      const asking = request({ host: '127.0.0.1', port: apiPort(), method, path, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      outgoing.on('close', () => asking.destroy());
      asking.on('error', () => outgoing.destroy());
      asking.end(body);
    });
    await new Promise<void>((done) => way.listen(socketPath, done));
    return way;
  }

  async stop(): Promise<void> {
    this.#way?.closeAllConnections();
    this.#way?.close();
    await this.#namespace.remove();
  }
}

/** The root, and the registry `zz` with two addresses. */
function worldOf(delegations: Delegations): string {
  const [a, b] = REGISTRY;
  const names = Object.entries(delegations).flatMap(([label, servers]) =>
    servers.map((server) => `  ${label} NS ${server}.`),
  );
  return [
    '# The root and a registry, as one network sees them.',
    `server a.root. ${ROOT_SERVER}`,
    '  serves .',
    `server a.nic.zz. ${a}`,
    '  serves zz.',
    `server b.nic.zz. ${b}`,
    '  serves zz.',
    'zone .',
    '  $TTL 86400',
    '  @ NS a.root.',
    `  a.root. A ${ROOT_SERVER}`,
    '  zz. NS a.nic.zz.',
    '  zz. NS b.nic.zz.',
    `  a.nic.zz. A ${a}`,
    `  b.nic.zz. A ${b}`,
    'zone zz.',
    '  $TTL 30',
    '  @ NS a.nic',
    '  @ NS b.nic',
    `  a.nic A ${a}`,
    `  b.nic A ${b}`,
    ...names,
    '',
  ].join('\n');
}
