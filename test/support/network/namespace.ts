// Network namespaces, which require root. The kernel removes one, and its links, when its last process has ended.

import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { isInstalled } from '../peers/peers.ts';
import { runProgram } from '../validators/run-program.ts';

/** Mounts /sys, so that it describes the namespace's interfaces, as in `ip netns exec`. */
const HOLDER = 'mount -t sysfs sysfs /sys && ip link set lo up && echo ready && exec sleep infinity';

/** A suffix for test names: empty if this machine has everything that the tests need. */
export const NEEDS_NETWORKS = missingPart();

function missingPart(): string {
  const missing = ['ip', 'ethtool', 'curl', 'ping'].filter((program) => !isInstalled(program));
  if (spawnSync('unshare', ['--net', '--mount', 'true']).status !== 0) missing.unshift('root');
  return missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;
}

export class NetworkNamespace {
  readonly #holder: ChildProcess | undefined;

  /** Creates a namespace that is held by a process, which ends with this one. */
  static async create(): Promise<NetworkNamespace> {
    const holder = spawn(...split([...BOUND, 'unshare', '--net', '--mount', 'sh', '-c', HOLDER]), {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [holder.stdout, holder.stderr]) stream?.on('data', (data) => (text += data));
    await Promise.race([once(holder.stdout as NodeJS.ReadableStream, 'data'), once(holder, 'exit')]);
    if (!text.startsWith('ready')) throw new Error(`a network namespace cannot be created: ${text}`);
    return new NetworkNamespace(holder);
  }

  /** Returns the namespace of this process. */
  static own(): NetworkNamespace {
    return new NetworkNamespace(undefined);
  }

  private constructor(holder: ChildProcess | undefined) {
    this.#holder = holder;
  }

  get pid(): number {
    return this.#holder?.pid ?? process.pid;
  }

  /** Returns the command that runs `command` in the namespace, with the same process id. It ends with this process. */
  command(...command: readonly string[]): string[] {
    const enter =
      this.#holder === undefined ? [] : ['nsenter', `--target=${this.pid}`, '--net', '--mount', '--wd'];
    return [...BOUND, ...enter, ...command];
  }

  spawn(command: readonly string[], options: SpawnOptions): ChildProcess {
    return spawn(...split(this.command(...command)), { ...options, env: withSbin(options.env) });
  }

  /** Runs a program to its end. Throws unless it succeeds. */
  async run(...command: readonly string[]): Promise<string> {
    const { code, text } = await this.try(...command);
    if (code !== 0) throw new Error(`${command.join(' ')}: ${text}`);
    return text;
  }

  async try(...command: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
    return await runProgram(...split(this.command(...command)));
  }

  /** Kills all processes in the namespace, which deletes it. */
  async remove(): Promise<void> {
    if (this.#holder === undefined) return;
    if (this.#holder.exitCode !== null || this.#holder.signalCode !== null) return;
    const ended = once(this.#holder, 'exit');
    for (const pid of this.#processes()) process.kill(pid, 'SIGKILL');
    this.#holder.kill('SIGKILL');
    await ended;
  }

  #processes(): number[] {
    const namespace = namespaceOf(this.pid);
    return readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry))
      .map(Number)
      .filter((pid) => namespace !== undefined && pid !== process.pid && namespaceOf(pid) === namespace);
  }
}

/** The kernel kills the program when this process ends, even by SIGKILL. */
const BOUND = ['setpriv', '--pdeathsig', 'KILL'];

function namespaceOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    return undefined; // it has ended
  }
}

function split([program = '', ...args]: readonly string[]): [string, string[]] {
  return [program, args];
}

function withSbin(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return { ...env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` };
}
