// Runs another server program in a separate directory, which is deleted after the program has stopped.

import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../tests/until.ts';

interface Daemon {
  readonly directory: string;
  readonly child: ChildProcess;
  /** Ends the program, does the work, and starts the program again with the same files. */
  restart(work?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

interface DaemonStart {
  readonly program: string;
  /** Written before the start. Names are relative to the directory. */
  readonly files: (directory: string) => Readonly<Record<string, string>>;
  readonly args: (directory: string) => readonly string[];
  readonly prepare?: (directory: string) => Promise<void>;
  readonly isReady: () => Promise<boolean>;
}

export async function startDaemon({ program, files, args, prepare, isReady }: DaemonStart): Promise<Daemon> {
  const directory = await mkdtemp(join(tmpdir(), `zonefleet-${program}-`));
  await chmod(directory, 0o755);
  for (const [name, text] of Object.entries(files(directory))) await writeFile(join(directory, name), text);
  await prepare?.(directory);
  let told = '';
  const start = () => {
    const started = spawn(program, args(directory), {
      env: { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` },
      stdio: ['ignore', 'pipe', 'pipe'],
      cwd: directory,
    });
    for (const stream of [started.stdout, started.stderr])
      stream.on('data', (text: Buffer) => {
        told = `${told}${text}`.slice(-4000);
      });
    return started;
  };
  let child = start();
  const stop = async () => {
    await endChild(child);
    await rm(directory, { recursive: true, force: true });
  };
  const answers = async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${told}`);
    return await isReady();
  };
  const untilAnswers = async () => {
    try {
      await until(answers, () => `${program} answers: ${told}`);
    } catch (error) {
      await stop();
      throw error;
    }
  };
  await untilAnswers();
  return {
    directory,
    get child() {
      return child;
    },
    async restart(work) {
      await endChild(child);
      await work?.();
      child = start();
      await untilAnswers();
    },
    stop,
  };
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await ended;
  clearTimeout(killer);
}
