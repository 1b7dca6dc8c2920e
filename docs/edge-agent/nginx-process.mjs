// @ts-check
// The nginx of this agent: asked whether it takes its files, started, told to read them again. It goes on without the agent.

import { execFile } from 'node:child_process';
import { readOrNothing } from './kept-configs.mjs';

const RUN_MS = 120_000;
const LIVE_MS = 15_000;
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
    const isRunning = this.isRunning();
    const { code, stderr } = await this.#run(isRunning ? ['-s', 'reload'] : []);
    if (code !== 0) throw new Error(`nginx does not ${isRunning ? 'reload' : 'start'}: ${stderr}`);
    const until = Date.now() + LIVE_MS;
    while (Date.now() < until) {
      if ((await this.generation()) === generation) return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    throw new Error('nginx took its files in the test, but does not serve them; see its error log');
  }

  isRunning() {
    const pid = Number(readOrNothing(`${this.state}/nginx.pid`));
    if (!Number.isInteger(pid) || pid <= 1) return false;
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  }

  async generation() {
    try {
      const response = await fetch(`http://127.0.0.1:${this.statusPort}/generation`, {
        signal: AbortSignal.timeout(2_000),
      });
      return Number(await response.text());
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
