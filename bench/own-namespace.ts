// Runs a part of the benchmark in its own network namespace, by starting the benchmark again.

import { fileURLToPath } from 'node:url';
import type { BenchOptions, PartName, Section } from './part.ts';
import { runProgram } from './program.ts';

/** The last argument of the benchmark that runs in the namespace. */
export const INSIDE = '--inside-namespace';

export function isInOwnNamespace(): boolean {
  return process.argv.includes(INSIDE);
}

/**
 * Runs the part. Returns no section, because the inner benchmark writes it.
 *
 * @param setup shell commands that configure the namespace. As root they may mount file systems for the inner benchmark.
 */
export async function runInOwnNamespace(
  part: PartName,
  options: BenchOptions,
  setup: readonly string[],
): Promise<Section[]> {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const asRoot = process.getuid?.() === 0;
  const script = ['ip link set lo up', ...setup, 'exec "$@"'].join(' && ');
  const program = runProgram(
    [
      'unshare',
      ...(asRoot ? ['--net', '--mount'] : ['--map-current-user', '--keep-caps', '--net']),
      ...['sh', '-c', script, 'sh'],
      ...[process.execPath, 'src/start/run.mjs', 'bench/main.ts', part, ...options.words, INSIDE],
    ],
    { cwd: root },
  );
  program.child.stderr?.pipe(process.stderr);
  const code = await program.ended;
  if (code !== 0) throw new Error(`the benchmark in its own network namespace ended with ${code}`);
  return [];
}
