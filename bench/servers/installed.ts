// Whether a program is there, and which one it is.

import { spawnSync } from 'node:child_process';
import { PROGRAM_PATH } from '../program.ts';

/** The first match of `pattern` in what the program says about itself; undefined when it is not installed. */
export function versionOf(command: readonly string[], pattern: RegExp): string | undefined {
  const { error, stdout, stderr } = spawnSync(command[0] as string, command.slice(1), {
    env: { PATH: PROGRAM_PATH },
    encoding: 'utf8',
    timeout: 10_000,
  });
  if (error !== undefined) return undefined;
  return pattern.exec(`${stdout}${stderr}`)?.[1] ?? 'of unknown version';
}
