// BIND's client for dynamic updates.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** Sends `lines` as one update with a key, written as `algorithm:name:secret`. Returns the output, '' if nsupdate succeeds. */
export async function nsupdate(
  port: number,
  key: string,
  lines: readonly string[],
  ...options: readonly string[]
): Promise<string> {
  const child = spawn('nsupdate', [
    '-t',
    '20',
    '-u',
    '20',
    '-r',
    '0',
    ...(key === '' ? [] : ['-y', key]),
    ...options,
  ]);
  child.stdin.end([`server 127.0.0.1 ${port}`, ...lines, 'send', ''].join('\n'));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return `${stdout}${stderr}`.trim();
}
