// A copy of this repository like a clone (the files that git tracks or would track) in a separate directory, in which `npm
// start` runs as root or as an ordinary user, and the processes that it leaves running.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { until } from '../tests/until.ts';
import { databaseDirectory } from './database-directory.ts';
import { freePort } from './free-port.ts';

export interface User {
  readonly uid?: number;
  readonly gid?: number;
}

const ROOT = resolve(import.meta.dirname, '../../..');
const READY = /^ {2}try {7}(dig .*)$/m;

export class FreshClone {
  readonly directory: string;
  readonly environment: Record<string, string>;
  readonly dnsPort: string;
  readonly databaseDirectory: string;
  readonly #user: User;

  /** With `installed`, node_modules exists as after an installation (hard links: no registry, no time). */
  constructor(options: {
    user: User;
    ports: readonly [dns: number, api: number, metrics: number];
    installed: boolean;
  }) {
    const { user, ports, installed } = options;
    this.#user = user;
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'zf-clone-')));
    chmodSync(home, 0o755);
    this.directory = join(home, 'zonefleet');
    const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    for (const file of files.split('\0').filter((name) => name !== '' && existsSync(join(ROOT, name))))
      cpSync(join(ROOT, file), join(this.directory, file), { recursive: true });
    if (installed) linkTree(join(ROOT, 'node_modules'), join(this.directory, 'node_modules'));
    for (const place of [home, this.directory])
      if (user.uid !== undefined) chownSync(place, user.uid, user.gid ?? 0);
    const isRoot = process.getuid?.() === 0 && user.uid === undefined;
    this.databaseDirectory = databaseDirectory(join(this.directory, 'data'), isRoot);
    const [dns, api, metrics] = ports;
    this.dnsPort = String(dns);
    // The workers check the demo's delegation: this root has an address that they may not query.
    const hints = join(home, 'root.hints');
    writeFileSync(hints, '. 1 NS a.root.\na.root. 1 A 127.0.0.1\n');
    this.environment = {
      PATH: `${this.#placeOfNode(home)}:${process.env.PATH}`,
      HOME: home,
      npm_config_cache: join(home, 'npm-cache'),
      npm_config_update_notifier: 'false',
      DNS_LISTEN: `127.0.0.1:${dns}`,
      API_LISTEN: `127.0.0.1:${api}`,
      METRICS_LISTEN: `127.0.0.1:${metrics}`,
      LOG_LEVEL: 'warn',
      ROOT_HINTS: hints,
      CONSOLE: 'off', // 84 MiB to build it
      // Some networks intercept the registry with their own certificates.
      ...(process.env.NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS }),
    };
  }

  /** On free ports. */
  static async make({
    user = {},
    installed = true,
  }: {
    user?: User;
    installed?: boolean;
  } = {}): Promise<FreshClone> {
    const ports = [await freePort(), await freePort(), await freePort(2)] as const;
    return new FreshClone({ user, ports, installed });
  }

  /** Location of our Node, or of a copy if the user cannot enter that directory. */
  #placeOfNode(home: string): string {
    const original = realpathSync(process.execPath);
    const enters = spawnSync(original, ['--version'], { ...this.#user, cwd: '/', stdio: 'ignore' });
    if (enters.status === 0) return dirname(original);
    mkdirSync(join(home, 'bin'));
    cpSync(original, join(home, 'bin/node'));
    return join(home, 'bin');
  }

  /** Runs `npm start` with `words` after `--`. */
  start(environment: Record<string, string> = {}, words: readonly string[] = []): StartedClone {
    const npm = spawn('npm', ['start', ...(words.length > 0 ? ['--', ...words] : [])], {
      ...this.#user,
      cwd: this.directory,
      env: { ...this.environment, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new StartedClone(npm);
  }

  /** Runs `zonefleet …` as an operator on this machine. */
  cli(...args: string[]): { status: number | null; output: string } {
    const { stdout, stderr, status } = spawnSync('node', ['src/cli/zonefleet.mjs', ...args], {
      ...this.#user,
      cwd: this.directory,
      env: this.environment,
      encoding: 'utf8',
      timeout: 180_000,
    });
    return { status, output: stdout + stderr };
  }

  /** Returns the pids of all processes of this clone: those that work in its directory or mention it in their arguments. */
  processes(): number[] {
    const places = [this.directory, this.databaseDirectory];
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .filter((pid) => {
        const words = `${readProc(pid, 'cmdline')}\0${readProc(pid, 'environ')}`;
        return !isZombie(pid) && places.some((place) => words.includes(place));
      })
      .map(Number);
  }

  /** Resolves with the exit code once every process has ended. */
  async stop(started: StartedClone, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    started.npm.kill(signal);
    const code = await started.ended;
    await until(() => this.processes().length === 0, 'every process has ended', 180_000);
    return code;
  }

  /** Like a power failure: kills everything at once without warning. */
  async killAll(): Promise<void> {
    await until(
      () => {
        const left = this.processes();
        for (const pid of left) {
          try {
            process.kill(pid, 'SIGKILL');
          } catch {
            // ended in the meantime
          }
        }
        return left.length === 0;
      },
      'everything is killed',
      180_000,
    );
  }

  async remove(): Promise<void> {
    await this.killAll();
    rmSync(dirname(this.directory), { recursive: true, force: true });
    rmSync(this.databaseDirectory, { recursive: true, force: true });
  }
}

export class StartedClone {
  output = '';
  readonly npm: ChildProcess;
  readonly ended: Promise<number | null>;

  constructor(npm: ChildProcess) {
    this.npm = npm;
    for (const stream of [npm.stdout, npm.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text;
      });
    this.ended = new Promise((done) => npm.once('close', done));
  }

  /** Returns the `dig` line once it is printed. */
  async ready(timeoutMs = 180_000): Promise<string> {
    let over = false;
    void this.ended.then(() => {
      over = true;
    });
    return until(
      () => {
        if (over) throw new Error(`npm start ended:\n${this.output}`);
        return READY.exec(this.output)?.[1];
      },
      'npm start is ready',
      timeoutMs,
    ).catch((error: Error) => {
      throw new Error(`${error.message}\n${this.output}`);
    });
  }
}

/** Uses hard links if possible, otherwise copies. */
function linkTree(from: string, to: string): void {
  const links = spawnSync('cp', ['-al', from, to]);
  if (links.status === 0) return;
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true, verbatimSymlinks: true });
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function isZombie(pid: string): boolean {
  return /^State:\s*Z/m.test(readProc(pid, 'status'));
}

/** An ordinary user to switch to, if we are root and there is one. */
export function ordinaryUser(): Required<User> | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const fields = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((line) => line.startsWith('nobody:'))
    ?.split(':');
  return fields === undefined ? undefined : { uid: Number(fields[2]), gid: Number(fields[3]) };
}
