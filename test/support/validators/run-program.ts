// Runs a program to its end, and returns its output.

import { execFile } from 'node:child_process';

interface Ran {
  readonly code: number;
  readonly text: string;
}

const TIMEOUT_MS = 60_000;

export function runProgram(program: string, args: readonly string[], cwd?: string): Promise<Ran> {
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
