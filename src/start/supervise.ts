// Keeps one process of ours running: starts it, waits until it says ready, brings it back after a crash. The process ends
// by itself when we are gone, since it sees the channel to us close.
//
//   starting ──ready──▶ running ──exit──▶ waiting (three times not at all, then 0.1 s, doubled up to 10 s; anew after a
//   minute of running) ──▶ starting
//   the first start only: exit before ready fails for good

import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { compiledFile } from '../process/compiled.ts';
import type { ListenAddress } from '../process/listen-address.ts';
import { StartFault } from '../process/start-fault.ts';

/** What a process tells us over the channel. `failed` comes before it exits for a reason that the operator can mend. */
type ProcessMessage =
  | { kind: 'ready'; addresses: readonly ListenAddress[] }
  | { kind: 'failed'; reason: string };

type Ready = Extract<ProcessMessage, { kind: 'ready' }>;

interface SupervisedOptions {
  readonly name: string;
  readonly entry: URL;
  readonly env: NodeJS.ProcessEnv;
  readonly onCrash: (told: { child: string; ended: string; restartMs: number }) => void;
}

/** A crash that is not its own doing should cost no more than the start. */
const RESTARTS_AT_ONCE = 3;
const FIRST_RESTART_MS = 100;
const LAST_RESTART_MS = 10_000;
const STEADY_MS = 60_000;
const STOP_TIMEOUT_MS = 1500;

/** How long to wait before a process is started again that has crashed so often already. */
export function restartDelayMs(crashesBefore: number): number {
  if (crashesBefore < RESTARTS_AT_ONCE) return 0;
  return Math.min(LAST_RESTART_MS, FIRST_RESTART_MS * 2 ** (crashesBefore - RESTARTS_AT_ONCE));
}

export class SupervisedProcess {
  readonly #options: SupervisedOptions;
  readonly #stopping = new AbortController();
  #child: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: SupervisedOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Resolves when it is ready, with where it listens; rejects when it ends before. From then on it is brought back. */
  async start(): Promise<Ready['addresses']> {
    const first = this.#spawn();
    const outcome = await first.outcome;
    if (typeof outcome === 'string')
      throw new StartFault(`the ${this.#options.name} did not start: ${outcome}`);
    this.#ended = this.#keepRunning(first.ended);
    return outcome.addresses;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const child = this.#child;
    if (child !== undefined && isRunning(child)) {
      child.kill('SIGTERM');
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await new Promise((done) => child.once('exit', done));
      clearTimeout(force);
    }
    await this.#ended;
  }

  async #keepRunning(firstEnd: Promise<string>): Promise<void> {
    let end = firstEnd;
    let crashes = 0;
    for (;;) {
      const startedAt = performance.now();
      const ended = await end;
      if (this.#stopping.signal.aborted) return;
      if (performance.now() - startedAt > STEADY_MS) crashes = 0;
      const restartMs = restartDelayMs(crashes++);
      this.#options.onCrash({ child: this.#options.name, ended, restartMs });
      await pause(restartMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
      if (this.#stopping.signal.aborted) return;
      end = this.#spawn().ended;
    }
  }

  /** `outcome`: that it is ready, or why it ended before; `ended`: how it ended. */
  #spawn(): { outcome: Promise<Ready | string>; ended: Promise<string> } {
    const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
    const compiled = compiledFile(this.#options.entry);
    const child = fork(compiled ?? this.#options.entry, [], {
      env: this.#options.env,
      execArgv: compiled === undefined ? ['--import', tsx] : ['--enable-source-maps'],
      serialization: 'json',
    });
    this.#child = child;
    let reason: string | undefined;
    const ended = new Promise<string>((done) => {
      child.on('error', (error) => done(error.message));
      child.on('exit', (code, signal) => done(reason ?? signal ?? `exit code ${code}`));
    });
    const ready = new Promise<Ready>((done) => {
      child.on('message', (message: ProcessMessage) => {
        if (message.kind === 'ready') done(message);
        else reason = message.reason;
      });
    });
    return { outcome: Promise.race([ready, ended]), ended };
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}
