// @ts-check
// The nginx of this agent: asked whether it takes its files, started, told to read them again. It goes on without the agent.

import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { readOrNothing } from './kept-configs.mjs';

const RUN_MS = 120_000;
/** How long it may take to come up, or to be gone from the list of processes. */
const START_MS = 15_000;
const LOOK_MS = 50;

export class NginxProcess {
  /**
   * @param {{ nginx: string, state: string, statusPort: number }} settings
   * @param {string} file its configuration
   */
  constructor({ nginx, state, statusPort }, file) {
    this.program = nginx;
    this.state = state;
    this.statusPort = statusPort;
    this.args = ['-p', state, '-c', file];
  }

  /** @returns {Promise<string | undefined>} why it refuses its files */
  async test() {
    const { code, stderr } = await this.#run(['-q', '-t']);
    return code === 0 ? undefined : stderr;
  }

  /**
   * Starts it, or has it read its files again, and waits until it answers with this generation.
   * @param {number} generation
   */
  async load(generation) {
    const master = this.master();
    if (master === undefined) {
      rmSync(`${this.state}/nginx.pid`, { force: true });
      const { code, stderr } = await this.#run([]);
      if (code !== 0) throw new Error(`nginx does not start: ${stderr}`);
    } else {
      // Not by `nginx -s reload`: that reads all files once more, to find the same process.
      process.kill(master, 'SIGHUP');
    }
    // Reading many domains takes long: while it runs it may.
    const begin = Date.now();
    while (Date.now() - begin < (this.master() === undefined ? START_MS : RUN_MS)) {
      if ((await this.generation()) === generation) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    throw new Error('nginx took its files in the test, but does not serve them; see its error log');
  }

  /**
   * Our nginx. What its file says alone does not count: after a crash of the machine another process may have the number.
   * @returns {number | undefined}
   */
  master() {
    const pid = Number(readOrNothing(`${this.state}/nginx.pid`));
    if (!Number.isSafeInteger(pid) || pid <= 1) return undefined;
    // Its words, or the title that it gives itself: `nginx: master process /usr/sbin/nginx -p … -c …`. Empty: it has ended.
    const title = readOrNothing(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ') ?? '';
    const isMaster = title.startsWith('nginx: master process ') || title.startsWith(`${this.program} `);
    return isMaster && `${title} `.includes(` ${this.args.join(' ')} `) ? pid : undefined;
  }

  /** Has it open its logs anew: what it holds back of them is written first. False: there is none to be told. */
  reopenLogs() {
    const master = this.master();
    if (master === undefined) return false;
    process.kill(master, 'SIGUSR1');
    return true;
  }

  /** Whether it serves: its workers answer, and its master is there to be told what changes. */
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

  /**
   * @param {readonly string[]} more
   * @returns {Promise<{ code: number, stderr: string }>}
   */
  #run(more) {
    return new Promise((resolve) => {
      execFile(this.program, [...this.args, ...more], { timeout: RUN_MS }, (error, _, stderr) => {
        resolve({ code: error === null ? 0 : 1, stderr: stderr || (error?.message ?? '') });
      });
    });
  }
}
