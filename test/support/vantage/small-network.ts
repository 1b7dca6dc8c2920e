// A network of its own: a network namespace with a small internet as that network sees it, whatever others see, and programs of
// ours in it. It needs root; everything is removed at the end.

import { type ChildProcessByStdio, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isInstalled } from '../peers/peers.ts';

const CHILD = fileURLToPath(new URL('./network-child.ts', import.meta.url));
const run = promisify(execFile);
/** The way to the API, in each network. */
const API_PORT = 8053;
const ROOT_SERVER = '198.51.100.1';
const REGISTRY = ['198.51.100.2', '198.51.100.3'];

/** What is missing for such networks, for a test's name; empty when nothing is. */
export function needsNetworks(): string {
  const missing = isInstalled('ip') ? (mayMake() ? '' : 'the right to make network namespaces') : 'iproute2';
  return missing === '' ? '' : ` (skipped: needs ${missing})`;
}

function mayMake(): boolean {
  const name = `zfprobe${process.pid}`;
  const isMade = spawnSync('ip', ['netns', 'add', name]).status === 0;
  if (isMade) spawnSync('ip', ['netns', 'del', name]);
  return isMade;
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
  readonly #name: string;
  readonly #folder: string;
  #delegations: Delegations = {};
  #child: ChildProcessByStdio<Writable, Readable, null> | undefined;
  #lines: AsyncIterator<string> | undefined;
  #way: Server | undefined;
  #isCut = false;

  private constructor(label: string, folder: string) {
    this.label = label;
    this.#name = `zf${process.pid}${label}`;
    this.#folder = folder;
    this.settings = {
      ROOT_HINTS: join(folder, 'root.hints'),
      RESOLVER_ALLOW: '198.51.100.0/24',
      PUBLIC_RESOLVERS: 'off',
    };
  }

  /** `apiPort`: of the API, on the loopback interface outside. */
  static async make(label: string, apiPort: () => number): Promise<SmallNetwork> {
    const network = new SmallNetwork(label, await mkdtemp(join(tmpdir(), `zonefleet-network-${label}-`)));
    try {
      await network.#start(apiPort);
    } catch (error) {
      await network.stop();
      throw error;
    }
    return network;
  }

  async #start(apiPort: () => number): Promise<void> {
    const hints = `. 3600000 NS a.root.\na.root. 3600000 A ${ROOT_SERVER}\n`;
    await writeFile(join(this.#folder, 'root.hints'), hints);
    await removeAbandoned();
    await run('ip', ['netns', 'add', this.#name]);
    const batch = join(this.#folder, 'batch');
    const lines = [ROOT_SERVER, ...REGISTRY].map((address) => `addr add ${address}/32 dev lo`);
    await writeFile(batch, ['link set lo up', ...lines, ''].join('\n'));
    await run('ip', ['-n', this.#name, '-batch', batch]);
    const socketPath = join(this.#folder, 'api.sock');
    this.#way = await this.#openWay(socketPath, apiPort);
    const { command, args } = this.within(process.execPath);
    const words = [...args, '--import', 'tsx', CHILD, String(API_PORT), socketPath];
    const child = spawn(command, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    await this.show({});
  }

  /** How a program is started in this network. */
  within(program: string): { readonly command: string; readonly args: readonly string[] } {
    return { command: 'ip', args: ['netns', 'exec', this.#name, program] };
  }

  /** The registry shows this here from now on, besides what it showed. */
  async show(delegations: Delegations): Promise<void> {
    this.#delegations = { ...this.#delegations, ...delegations };
    this.#child?.stdin.write(`${JSON.stringify(worldOf(this.#delegations))}\n`);
    const line = await this.#lines?.next();
    if (line === undefined || line.done === true) throw new Error(`the process in ${this.label} has ended`);
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
    const child = this.#child;
    if (child !== undefined && child.exitCode === null) {
      const ended = new Promise((done) => child.once('exit', done));
      child.stdin.end();
      child.kill();
      await ended;
    }
    this.#way?.closeAllConnections();
    this.#way?.close();
    await run('ip', ['netns', 'del', this.#name]).catch(() => {});
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Removes what runs that were killed have left. */
async function removeAbandoned(): Promise<void> {
  const { stdout } = await run('ip', ['netns', 'list']);
  for (const [name, pid] of stdout.matchAll(/^zf(\d+)[a-z]+(?= |$)/gm)) {
    if (!isRunning(Number(pid))) await run('ip', ['netns', 'del', name]).catch(() => {}); // another one may be at it
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
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
