// Runs a program to its end, and returns its output.

import { execFile } from 'node:child_process';

const TIMEOUT_MS = 60_000;

export function runProgram(
  program: string,
  args: readonly string[],
  cwd?: string,
): Promise<{ readonly code: number; readonly text: string }> {
  const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin` };
  return new Promise((done) => {
    execFile(
      program,
      args,
      { env, timeout: TIMEOUT_MS, maxBuffer: 1 << 26, ...(cwd && { cwd }) },
      (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        done({ code, text: out + err });
      },
    );
  });
}

/** Throws unless the exit code is 0. */
export async function runIn(directory: string, program: string, args: readonly string[]): Promise<string> {
  const { code, text } = await runProgram(program, args, directory);
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${text}`);
  return text;
}
