// Keeps one of our processes running: starts it, waits until it is ready, and restarts it after a crash. The process ends
// automatically when we end, because its channel to us closes.
//
//   starting ──ready──▶ running ──exit──▶ waiting (three times not at all, then 0.1 s, doubled up to 10 s; the count ends after
//   two seconds of running) ──▶ starting
//   the first start only: exit before ready fails for good
//   running ──restart──▶ a second process starts ──ready──▶ it is the running one, and the first ends; if it ends before, or
//   is not ready in time and is killed, the first goes on

import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { compiledFile } from '../process/compiled.ts';
import type { ListenAddress } from '../process/listen-address.ts';
import { explainEarlyEnd, OVERDUE, RESTART_LIMIT_MS } from '../process/restart-limit.ts';
import { StartFault } from '../process/start-fault.ts';
import { NODE_ENVIRONMENT, NODE_FLAGS } from './node-flags.ts';

/** Messages from a process over the channel. `failed` precedes an exit for a reason that the operator can fix. */
type ProcessMessage =
  | { kind: 'ready'; addresses: readonly ListenAddress[] }
  /** Requests that a second process replaces this one. The response to a failure is `restart failed`. */
  | { kind: 'restart' }
  | { kind: 'failed'; reason: string };

type Ready = Extract<ProcessMessage, { kind: 'ready' }>;

interface SupervisedOptions {
  readonly name: string;
  readonly entry: URL;
  readonly env: NodeJS.ProcessEnv;
  readonly onCrash: (told: { child: string; ended: string; restartMs: number }) => void;
  readonly restartLimitMs?: number | undefined;
}

/** A crash with an external cause should cost no more than the start. */
const RESTARTS_AT_ONCE = 3;
const FIRST_RESTART_MS = 100;
const LAST_RESTART_MS = 10_000;
/** A process that ran this long is restarted immediately after a crash, since a start takes half a second. */
const STEADY_MS = 2000;
const STOP_TIMEOUT_MS = 1500;

/** Returns the wait before a process is restarted that has crashed this many times. */
export function restartDelayMs(crashesBefore: number): number {
  if (crashesBefore < RESTARTS_AT_ONCE) return 0;
  return Math.min(LAST_RESTART_MS, FIRST_RESTART_MS * 2 ** (crashesBefore - RESTARTS_AT_ONCE));
}

interface Started {
  readonly child: ChildProcess;
  /** Resolves when the process is ready, or with the reason why it ended before. */
  readonly outcome: Promise<Ready | string>;
  /** Resolves with the way in which the process ended. */
  readonly ended: Promise<string>;
}

export class SupervisedProcess {
  readonly #options: SupervisedOptions;
  readonly #stopping = new AbortController();
  /** All running processes: the current one, and its successor or predecessor. */
  readonly #children = new Set<ChildProcess>();
  #current: Started | undefined;
  /** Resolves when the starting successor is the current process or has ended. Undefined if none is starting. */
  #replacing: Promise<void> | undefined;
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: SupervisedOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#current?.child.pid;
  }

  /**
   * Resolves with the listening addresses when the process is ready. Rejects if it ends before. From then on it is
   * restarted after crashes.
   */
  async start(): Promise<Ready['addresses']> {
    const first = this.#spawn();
    this.#current = first;
    const outcome = await first.outcome;
    if (typeof outcome === 'string')
      throw new StartFault(`the ${this.#options.name} did not start: ${outcome}`);
    this.#ended = this.#keepRunning(first);
    return outcome.addresses;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#children].map(endChild));
    await this.#ended;
  }

  async #keepRunning(first: Started): Promise<void> {
    let crashes = 0;
    for (let current = first; ; ) {
      const startedAt = performance.now();
      const ended = await current.ended;
      await this.#replacing;
      if (this.#stopping.signal.aborted || this.#current !== current) return; // it was replaced
      if (performance.now() - startedAt > STEADY_MS) crashes = 0;
      const restartMs = restartDelayMs(crashes++);
      this.#options.onCrash({ child: this.#options.name, ended, restartMs });
      await pause(restartMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
      if (this.#stopping.signal.aborted) return;
      current = this.#spawn();
      this.#current = current;
    }
  }

  #restart(child: ChildProcess): void {
    const isCurrent = child === this.#current?.child && isRunning(child);
    if (this.#stopping.signal.aborted || !isCurrent || this.#replacing !== undefined) return;
    this.#replacing = this.#replace(child).finally(() => {
      this.#replacing = undefined;
    });
  }

  async #replace(replaced: ChildProcess): Promise<void> {
    const { restartLimitMs = RESTART_LIMIT_MS } = this.#options;
    const successor = this.#spawn({ ZONEFLEET_SUCCESSOR: '1' });
    const waiting = new AbortController();
    const limit = pause(restartLimitMs, OVERDUE, { signal: waiting.signal });
    const outcome = await Promise.race([successor.outcome, limit]);
    waiting.abort();
    if (typeof outcome === 'string') {
      successor.child.kill('SIGKILL');
      if (replaced.connected) replaced.send({ kind: 'restart failed', reason: outcome });
      return;
    }
    this.#current = successor;
    this.#ended = Promise.all([this.#ended, this.#keepRunning(successor)]);
  }

  #spawn(more: NodeJS.ProcessEnv = {}): Started {
    const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
    const compiled = compiledFile(this.#options.entry);
    const child = fork(compiled ?? this.#options.entry, [], {
      env: { ...NODE_ENVIRONMENT, ...this.#options.env, ...more },
      execArgv: [...NODE_FLAGS, ...(compiled === undefined ? ['--import', tsx] : ['--enable-source-maps'])],
      serialization: 'json',
    });
    this.#children.add(child);
    child.on('exit', () => this.#children.delete(child));
    let reason: string | undefined;
    const ended = new Promise<string>((done) => {
      child.on('error', (error) => done(error.message));
      child.on('exit', (code, signal) => done(reason ?? signal ?? `exit code ${code}`));
    });
    const ready = new Promise<Ready>((done) => {
      child.on('message', (message: ProcessMessage) => {
        if (message.kind === 'ready') done(message);
        else if (message.kind === 'restart') this.#restart(child);
        else reason = message.reason;
      });
    });
    const early = ended.then((how) => reason ?? explainEarlyEnd(how));
    return { child, outcome: Promise.race([ready, early]), ended };
  }
}

async function endChild(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return;
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await new Promise((done) => child.once('exit', done));
  clearTimeout(force);
}

function isRunning(child: ChildProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}
