// What a package is built from: its version, its commit, and the time that its files get.

import { execFileSync } from 'node:child_process';
import { readBuild } from '../../src/process/build.ts';

export interface Build {
  readonly version: string;
  /** All digits. Undefined in a folder that is not a Git clone. */
  readonly commit: string | undefined;
  /** Seconds since 1970: SOURCE_DATE_EPOCH, or the time of the commit. */
  readonly epoch: number;
}

export function describeBuild(root: string, sourceDateEpoch: string | undefined): Build {
  const { version } = readBuild(root);
  const git = (...words: string[]) => {
    try {
      return execFileSync('git', words, {
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim();
    } catch {
      return undefined;
    }
  };
  const time = sourceDateEpoch ?? git('log', '-1', '--format=%ct') ?? '0';
  if (!/^\d{1,10}$/.test(time))
    throw new Error(`SOURCE_DATE_EPOCH: expected seconds since 1970, not "${time}"`);
  return { version, commit: git('rev-parse', 'HEAD'), epoch: Number(time) };
}
