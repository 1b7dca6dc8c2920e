// Runs the lines that `npm start` prints for a new operator.

import { execFileSync } from 'node:child_process';
import type { StartedClone } from './fresh-clone.ts';

/** Addresses of the demo's proxied record. */
export const EDGE = ['192.0.2.80', '198.51.100.80'];
const ONE_TRY = ['+tries=1', '+timeout=60'];

/** Runs the line over UDP or, with `+tcp`, over TCP. */
export function digPrinted(line: string, ...options: string[]): string {
  const [program = '', ...words] = line.split(' ');
  return execFileSync(program, [...words, '+short', ...ONE_TRY, ...options], { encoding: 'utf8' }).trim();
}

/** Returns undefined if there is no answer. */
export function digStatus(line: string): string | undefined {
  const [program = '', ...words] = line.split(' ');
  try {
    const text = execFileSync(program, [...words, ...ONE_TRY], { encoding: 'utf8', stdio: 'pipe' });
    return /status: (\w+)/.exec(text)?.[1];
  } catch {
    return undefined; // dig exits with 9
  }
}

/** `variables` are those in the line, as `$NAME`. */
export function curlPrinted({ output }: StartedClone, variables: Record<string, string> = {}): unknown {
  const line = /^ +(curl .*)$/m.exec(output)?.[1] ?? 'false';
  const env = { PATH: process.env.PATH ?? '', ...variables };
  return JSON.parse(execFileSync('bash', ['-euc', line], { env, encoding: 'utf8', stdio: 'pipe' }));
}

/** Names of nameserver, API and workers. */
export function metricsUrls({ output }: StartedClone): string[] {
  return /^ +metrics +(http.*) \(/m.exec(output)?.[1]?.split(' ') ?? [];
}
