// What all users of this machine can read about its processes while a test runs: their arguments, sampled repeatedly.

import { readdirSync, readFileSync, statSync } from 'node:fs';

const EVERY_MS = 50;

export class SeenProcesses {
  readonly #arguments = new Set<string>();
  readonly #open = new Set<string>();
  readonly #looking = setInterval(() => this.look(), EVERY_MS);

  look(): void {
    for (const pid of readdirSync('/proc')) {
      if (!/^\d+$/.test(pid)) continue;
      try {
        this.#arguments.add(readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' '));
        // Its environment has the passwords of its databases.
        if ((statSync(`/proc/${pid}/environ`).mode & 0o077) !== 0) this.#open.add(pid);
      } catch {
        // the process has ended
      }
    }
  }

  /** One command per line. */
  get text(): string {
    return [...this.#arguments].join('\n');
  }

  /** Processes with an environment that other users can read. */
  get withOpenEnvironment(): readonly string[] {
    return [...this.#open];
  }

  stop(): void {
    clearInterval(this.#looking);
  }
}
