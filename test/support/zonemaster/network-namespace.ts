// A network namespace with the addresses of small internets on its loopback interface, in which port 53 is free; and our
// own process and zonemaster-cli in it. It needs root; everything is removed at the end.

import { type ChildProcessByStdio, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isInstalled } from '../peers/peers.ts';

const CHILD = fileURLToPath(new URL('./world-child.ts', import.meta.url));
const run = promisify(execFile);

/** One try of one second, for servers that are silent on purpose. */
const PROFILE = { resolver: { defaults: { timeout: 2, retrans: 1, retry: 1 } } };
const ZONEMASTER_MS = 120_000;

/** A message of Zonemaster. */
export interface ZonemasterMessage {
  /** The test case, like `delegation01`. */
  readonly test: string;
  readonly tag: string;
  readonly args: string;
}

/** What our own check came to: see world-child.ts. */
export interface Looked {
  readonly codes: readonly string[];
  readonly isAnswered: boolean;
  readonly isKnown: boolean;
}

/** What is missing for a comparison; empty when nothing is. */
export function missingForZonemaster(): string {
  if (!isInstalled('zonemaster-cli')) return 'zonemaster-cli';
  if (!isInstalled('ip')) return 'iproute2';
  const name = `zfprobe${process.pid}`;
  const made = spawnSync('ip', ['netns', 'add', name]).status === 0;
  if (made) spawnSync('ip', ['netns', 'del', name]);
  return made ? '' : 'the right to make network namespaces';
}

export class NetworkNamespace {
  readonly #name = `zf${process.pid}`;
  readonly #folder: string;
  #child: ChildProcessByStdio<Writable, Readable, null> | undefined;
  #lines: AsyncIterator<string> | undefined;
  #reader: Interface | undefined;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(addresses: readonly string[], rootHints: string): Promise<NetworkNamespace> {
    const namespace = new NetworkNamespace(await mkdtemp(join(tmpdir(), 'zonefleet-zonemaster-')));
    try {
      await namespace.#start(addresses, rootHints);
    } catch (error) {
      await namespace.remove();
      throw error;
    }
    return namespace;
  }

  async #start(addresses: readonly string[], rootHints: string): Promise<void> {
    const name = this.#name;
    await writeFile(join(this.#folder, 'hints'), rootHints);
    await writeFile(join(this.#folder, 'profile.json'), JSON.stringify(PROFILE));
    await run('ip', ['netns', 'add', name]);
    const lines = addresses.map((address) =>
      address.includes(':') ? `addr add ${address}/128 dev lo nodad` : `addr add ${address}/32 dev lo`,
    );
    const batch = join(this.#folder, 'batch');
    await writeFile(batch, ['link set lo up', ...lines, ''].join('\n'));
    await run('ip', ['-n', name, '-batch', batch]);
    const child = spawn('ip', ['netns', 'exec', name, process.execPath, '--import', 'tsx', CHILD], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#child = child;
    this.#reader = createInterface({ input: child.stdout });
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }

  /** Serves a world from now on, and looks at it with our own check. */
  async look(folder: string, servers: readonly string[] = []): Promise<Looked> {
    this.#child?.stdin.write(`${[folder, ...servers].join(' ')}\n`);
    const line = await this.#lines?.next();
    if (line === undefined || line.done === true) throw new Error('the process in the namespace has ended');
    return JSON.parse(line.value) as Looked;
  }

  /** Runs these test cases, like `Delegation/delegation01`, on the world that is served. */
  async zonemaster(
    domain: string,
    tests: readonly string[],
    servers: readonly string[] = [],
  ): Promise<ZonemasterMessage[]> {
    const args = [
      ...['netns', 'exec', this.#name, 'zonemaster-cli', domain, '--raw', '--no-time', '--show_testcase'],
      ...[
        '--level=INFO',
        '--hints',
        join(this.#folder, 'hints'),
        '--profile',
        join(this.#folder, 'profile.json'),
      ],
      ...tests.flatMap((test) => ['--test', test]),
      ...servers.flatMap((server) => ['--ns', server]),
    ];
    const { stdout } = await run('ip', args, {
      timeout: ZONEMASTER_MS,
      env: { ...process.env, HOME: this.#folder },
    });
    const messages = stdout.split('\n').flatMap((line): ZonemasterMessage[] => {
      const [, test, tag, rest = ''] = /^\s*[\d.]+\s+[A-Z]+\s+(\S+)\s+(\S+)\s*(.*)$/.exec(line) ?? [];
      return test === undefined || tag === undefined ? [] : [{ test: test.toLowerCase(), tag, args: rest }];
    });
    if (messages.length === 0) throw new Error(`zonemaster-cli said nothing: ${stdout}`);
    return messages;
  }

  async remove(): Promise<void> {
    const child = this.#child;
    this.#reader?.close();
    if (child !== undefined && child.exitCode === null) {
      const ended = new Promise((done) => child.once('exit', done));
      child.stdin.end();
      child.kill();
      await ended;
    }
    await run('ip', ['netns', 'del', this.#name]).catch(() => {});
    await rm(this.#folder, { recursive: true, force: true });
  }
}
