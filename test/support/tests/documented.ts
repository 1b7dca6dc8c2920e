// Examples in docs/tools, and a shell that runs them.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './sources.ts';

const TIMEOUT_MS = 120_000;

export const pageText = (page: string) => readFileSync(join(ROOT, `docs/tools/${page}.md`), 'utf8');

/** Returns the file with this title in a page. */
export function fileIn(page: string, title: string): string {
  const [, block] = pageText(page).split(`\n\`\`\`${title}\n`);
  if (block === undefined) throw new Error(`docs/tools/${page}.md has no file ${title}`);
  return block.slice(0, block.indexOf('```'));
}

/** Returns the first command under a heading of a page. */
export function commandIn(page: string, heading: string): string {
  const [, part = ''] = pageText(page).split(`\n## ${heading}\n`);
  const command = /^ {4}(.*)$/m.exec(part)?.[1];
  if (command === undefined) throw new Error(`docs/tools/${page}.md has no command under ${heading}`);
  return command;
}

interface ShellRun {
  readonly code: number;
  /** What the command printed, on both streams. */
  readonly text: string;
}

/** Runs a command without the settings of this process. */
export function runShell(command: string, env: Readonly<Record<string, string>>): Promise<ShellRun> {
  const options = {
    env: { PATH: `${process.env.PATH}:/usr/sbin`, HOME: '/nonexistent', ...env },
    timeout: TIMEOUT_MS,
  };
  return new Promise((resolve) => {
    execFile('bash', ['-c', command], options, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, text: stdout + stderr }),
    );
  });
}
