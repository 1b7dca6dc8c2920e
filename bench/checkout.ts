// A commit, checked out into a temporary directory, to be measured next to this tree.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onEnd } from './cleanup.ts';
import { runToEnd } from './program.ts';

const ROOT = resolve(import.meta.dirname, '..');
const INSTALL_MS = 1_200_000;

export interface Checkout {
  /** The short hash of the commit. */
  readonly id: string;
  readonly directory: string;
}

/** Checks out the commit, and installs its packages. The directory is removed when the benchmark ends. */
export async function checkOut(commit: string): Promise<Checkout> {
  const directory = mkdtempSync(join(tmpdir(), 'zonefleet-commit-'));
  const git = (...words: string[]) => execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim();
  const id = git('rev-parse', '--short', '--verify', `${commit}^{commit}`);
  git('worktree', 'add', '--detach', '--quiet', directory, id);
  onEnd(() => {
    git('worktree', 'remove', '--force', directory);
    rmSync(directory, { recursive: true, force: true });
  });
  // Any program of the checkout installs missing packages when it starts.
  const help = [process.execPath, 'src/start/run.mjs', 'src/cli/main.ts', '--help'];
  await runToEnd(help, { cwd: directory, timeoutMs: INSTALL_MS });
  return { id, directory };
}
