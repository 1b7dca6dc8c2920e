// Detects if a program is installed, and its version.

import { spawnSync } from 'node:child_process';
import { PROGRAM_PATH } from '../program.ts';

/** Returns the first match of `pattern` in the program's description of itself, or undefined if it is not installed. */
export function versionOf(command: readonly string[], pattern: RegExp): string | undefined {
  const { error, stdout, stderr } = spawnSync(command[0] as string, command.slice(1), {
    env: { PATH: PROGRAM_PATH },
    encoding: 'utf8',
    timeout: 10_000,
  });
  if (error !== undefined) return undefined;
  return pattern.exec(`${stdout}${stderr}`)?.[1] ?? 'of unknown version';
}
