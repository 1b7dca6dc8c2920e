// A network namespace with addresses on its loopback interface, and a process of ours in it that answers each line with a line.
// It needs root.

import { type ChildProcessByStdio, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { isInstalled } from '../peers/peers.ts';

const run = promisify(execFile);

/** Returns what is missing for network namespaces; empty if nothing is. */
export function missingForNamespaces(): string {
  if (!isInstalled('ip')) return 'iproute2';
  const name = `zfprobe${process.pid}`;
  const isMade = spawnSync('ip', ['netns', 'add', name]).status === 0;
  if (isMade) spawnSync('ip', ['netns', 'del', name]);
  return isMade ? '' : 'the right to make network namespaces';
}

export class NetworkNamespace {
  /** For files of the programs in it. */
  readonly folder: string;
  readonly #name: string;
  #child: ChildProcessByStdio<Writable, Readable, null> | undefined;
  #lines: AsyncIterator<string> | undefined;

  private constructor(name: string, folder: string) {
    this.#name = name;
    this.folder = folder;
  }

  /** `label` is in small letters. */
  static async make(label: string, addresses: readonly string[]): Promise<NetworkNamespace> {
    const folder = await mkdtemp(join(tmpdir(), `zonefleet-network-${label}-`));
    const namespace = new NetworkNamespace(`zf${process.pid}${label}`, folder);
    try {
      await removeAbandoned();
      await run('ip', ['netns', 'add', namespace.#name]);
      const lines = addresses.map((address) =>
        address.includes(':') ? `addr add ${address}/128 dev lo nodad` : `addr add ${address}/32 dev lo`,
      );
      const batch = join(folder, 'batch');
      await writeFile(batch, ['link set lo up', ...lines, ''].join('\n'));
      await run('ip', ['-n', namespace.#name, '-batch', batch]);
      return namespace;
    } catch (error) {
      await namespace.remove();
      throw error;
    }
  }

  /** How a program is started in it. */
  within(program: string): { readonly command: string; readonly args: readonly string[] } {
    return { command: 'ip', args: ['netns', 'exec', this.#name, program] };
  }

  startChild(main: string, words: readonly string[] = []): void {
    const { command, args } = this.within(process.execPath);
    this.#child = spawn(command, [...args, '--import', 'tsx', main, ...words], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Sends a line to the process, and returns its answer. */
  async ask(line: string): Promise<string> {
    this.#child?.stdin.write(`${line}\n`);
    const answer = await this.#lines?.next();
    if (answer === undefined || answer.done === true)
      throw new Error(`the process in ${this.#name} has ended`);
    return answer.value;
  }

  async remove(): Promise<void> {
    const child = this.#child;
    if (child !== undefined && child.exitCode === null) {
      const ended = new Promise((done) => child.once('exit', done));
      child.stdin.end();
      child.kill();
      await ended;
    }
    await run('ip', ['netns', 'del', this.#name]).catch(() => {});
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Removes what runs that were killed have left. */
async function removeAbandoned(): Promise<void> {
  const { stdout } = await run('ip', ['netns', 'list']);
  for (const [name, pid] of stdout.matchAll(/^zf(\d+)[a-z]*(?= |$)/gm)) {
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
