// A server program that is not ours, in a directory of its own, which is gone when it has stopped.

import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { askMany } from '../peers/peers.ts';
import { until } from '../tests/until.ts';
import { recursive } from './validator.ts';

export interface Daemon {
  readonly directory: string;
  stop(): Promise<void>;
}

interface DaemonStart {
  readonly program: string;
  /** Written before it starts; names are within the directory. */
  readonly files: (directory: string) => Readonly<Record<string, string>>;
  readonly args: (directory: string) => readonly string[];
  readonly port: number;
}

/** Resolves when it answers queries at all. */
export async function startDaemon({ program, files, args, port }: DaemonStart): Promise<Daemon> {
  const directory = await mkdtemp(join(tmpdir(), `zonefleet-${program}-`));
  await chmod(directory, 0o755);
  for (const [name, text] of Object.entries(files(directory))) await writeFile(join(directory, name), text);
  const child = spawn(program, args(directory), {
    env: { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` },
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: directory,
  });
  let told = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => {
      told = `${told}${text}`.slice(-4000);
    });
  const stop = async () => {
    await endChild(child);
    await rm(directory, { recursive: true, force: true });
  };
  const probe = recursive(ROOT, TYPE.SOA);
  const answers = async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${told}`);
    const [reply] = await askMany(port, [probe], { tries: 1, timeoutMs: 200 });
    return reply !== undefined;
  };
  try {
    await until(answers, () => `${program} answers: ${told}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { directory, stop };
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await ended;
  clearTimeout(killer);
}
