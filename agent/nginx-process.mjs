// @ts-check
// The nginx of this agent: tests its files, starts and reloads it. It keeps running without the agent.

import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { readOrNothing } from './kept-configs.mjs';

const RUN_MS = 120_000;
/** Maximum time for a start or an end. */
const START_MS = 15_000;
const LOOK_MS = 50;

export class NginxProcess {
  /** @param {{ nginx: string, state: string, statusPort: number }} settings @param {string} file its configuration */
  constructor({ nginx, state, statusPort }, file) {
    this.program = nginx;
    this.state = state;
    this.statusPort = statusPort;
    this.args = ['-p', state, '-c', file];
  }

  /** @returns {Promise<string | undefined>} why nginx rejects its files */
  async test() {
    const { code, stderr } = await this.#run(['-q', '-t']);
    return code === 0 ? undefined : stderr;
  }

  /** Starts or reloads nginx, and waits until it responds with this generation. @param {number} generation */
  async load(generation) {
    const master = this.master();
    if (master === undefined) {
      rmSync(`${this.state}/nginx.pid`, { force: true });
      const { code, stderr } = await this.#run([]);
      if (code !== 0) throw new Error(`nginx does not start: ${stderr}`);
    } else {
      // Not with `nginx -s reload`, which parses all files again to find the same process.
      process.kill(master, 'SIGHUP');
    }
    // Loading many domains takes long, so there is no deadline while the process runs.
    const begin = Date.now();
    while (Date.now() - begin < (this.master() === undefined ? START_MS : RUN_MS)) {
      if ((await this.generation()) === generation) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    throw new Error('nginx accepted its files in the test but does not serve them; see its error log');
  }

  /** Returns the process id of our nginx. The pid file is not enough: after a crash of the machine another process may have this id. @returns {number | undefined} */
  master() {
    const pid = Number(readOrNothing(`${this.state}/nginx.pid`));
    if (!Number.isSafeInteger(pid) || pid <= 1) return undefined;
    // Its arguments, or its title: `nginx: master process /usr/sbin/nginx -p … -c …`. Empty if the process has ended.
    const title = readOrNothing(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ') ?? '';
    const isMaster = title.startsWith('nginx: master process ') || title.startsWith(`${this.program} `);
    return isMaster && `${title} `.includes(` ${this.args.join(' ')} `) ? pid : undefined;
  }

  /** Makes nginx reopen its logs, after writing its buffers. Returns false if it is not running. */
  reopenLogs() {
    const master = this.master();
    if (master === undefined) return false;
    process.kill(master, 'SIGUSR1');
    return true;
  }

  /** True if the workers respond and the master process runs. */
  async answers() {
    return this.master() !== undefined && (await this.generation()) !== undefined;
  }

  async generation() {
    try {
      const response = await fetch(`http://127.0.0.1:${this.statusPort}/generation`, {
        signal: AbortSignal.timeout(2_000),
      });
      const text = await response.text();
      return response.ok && /^[0-9]+$/.test(text) ? Number(text) : undefined;
    } catch {
      return undefined;
    }
  }

  /** @param {readonly string[]} more @returns {Promise<{ code: number, stderr: string }>} */
  #run(more) {
    return new Promise((resolve) => {
      execFile(this.program, [...this.args, ...more], { timeout: RUN_MS }, (error, _, stderr) => {
        resolve({ code: error === null ? 0 : 1, stderr: stderr || (error?.message ?? '') });
      });
    });
  }
}
