// A program of the fleet that is started again when it ends, as a service manager would.

import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { onEnd } from '../cleanup.ts';
import { type Program, runProgram } from '../program.ts';

export interface ProgramPlan {
  readonly label: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Standard output, which has the log, is appended to it. */
  readonly logFile: string;
  readonly isReady: () => Promise<boolean>;
  /** Called when it ends and no fault has ended it. */
  readonly onCrash: (label: string, reason: string) => void;
}

const RESTART_PAUSE_MS = 1000;
const STOP_LIMIT_MS = 30_000;

export class Supervised {
  readonly plan: ProgramPlan;
  #program: Program | undefined;
  /** Differs from that of `#program` after a restart without lost answers. */
  #pid = 0;
  #isWanted = false;
  #isHandingOver = false;
  /** Number of processes that have answered as this program. */
  incarnation = 0;

  constructor(plan: ProgramPlan) {
    this.plan = plan;
    mkdirSync(dirname(plan.logFile), { recursive: true });
  }

  get label(): string {
    return this.plan.label;
  }

  /** Undefined while it is ended. */
  get pid(): number | undefined {
    return this.#pid === 0 || !isRunning(this.#pid) ? undefined : this.#pid;
  }

  start(): void {
    const { command, env, cwd, logFile } = this.plan;
    this.#isWanted = true;
    this.incarnation++;
    const program = runProgram(command, { env: { ...env }, cwd, outputFile: logFile });
    onEnd(this.stop); // before the program itself, whose end would look like a crash
    this.#program = program;
    this.#pid = program.pid;
    void program.ended.then(async (reason) => {
      if (!this.#isWanted || this.#isHandingOver || this.#pid !== program.pid) return;
      this.plan.onCrash(this.label, `ended with ${reason}: ${program.output().slice(-500)}`);
      await pause(RESTART_PAUSE_MS);
      // It has another pid if a fault has stopped and started it meanwhile.
      if (this.#isWanted && this.#pid === program.pid) this.start();
    });
  }

  /** `replace` starts another process that takes over, and returns its pid. */
  async handOver(replace: () => Promise<number>): Promise<void> {
    this.#isHandingOver = true; // the first process ends without a crash
    try {
      this.#pid = await replace();
      this.incarnation++;
    } finally {
      this.#isHandingOver = false;
      this.#restartIfEnded('ended during a hand-over');
    }
  }

  /** Starts it again if a process that took over has ended. No event reports that, because it is not a child. */
  startIfEnded(): void {
    if (this.#pid !== this.#program?.pid) this.#restartIfEnded('the process that took over has ended');
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  readonly stop = (): Promise<void> => this.#end('SIGTERM');

  freeze(): void {
    this.#send('SIGSTOP');
  }

  thaw(): void {
    this.#send('SIGCONT');
  }

  #restartIfEnded(reason: string): void {
    if (!this.#isWanted || this.#isHandingOver || this.pid !== undefined) return;
    this.plan.onCrash(this.label, reason);
    this.start();
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#isWanted = false;
    if (this.pid === undefined) return;
    this.#send(signal);
    for (const deadline = performance.now() + STOP_LIMIT_MS; this.pid !== undefined; await pause(10))
      if (performance.now() > deadline) this.#send('SIGKILL');
    await this.#program?.ended;
    this.#pid = 0;
  }

  #send(signal: NodeJS.Signals): void {
    if (this.pid !== undefined) process.kill(this.pid, signal);
  }
}

/** A zombie has ended: in a container, the process that adopts it may never reap it. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}
