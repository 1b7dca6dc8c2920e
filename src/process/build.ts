// The version and the commit of the code that runs. Packages have the commit in build.json; a clone has it in .git.

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Build {
  readonly version: string;
  /** First digits of the Git commit. Undefined if neither build.json nor .git has it. */
  readonly commit: string | undefined;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COMMIT = /^[0-9a-f]{12,64}$/;
const SHOWN_DIGITS = 12;

/** Reads files that an upgrade may replace while the process runs, so call it when the process starts. */
export function readBuild(root = ROOT): Build {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const commit = packagedCommit(root) ?? clonedCommit(root);
  return {
    version,
    commit: commit !== undefined && COMMIT.test(commit) ? commit.slice(0, SHOWN_DIGITS) : undefined,
  };
}

/** Returns `1.0.0+COMMIT`: the commit is build metadata (Semantic Versioning §10). */
export function printBuild({ version, commit }: Build): string {
  return commit === undefined ? version : `${version}+${commit}`;
}

/** Parses the output of `printBuild`. */
export function parseBuild(text: string): Build {
  const [version = '', commit] = text.split('+');
  return { version, commit };
}

function packagedCommit(root: string): string | undefined {
  const text = readText(join(root, 'build.json'));
  return text === undefined ? undefined : (JSON.parse(text) as { commit?: string }).commit;
}

/** Reads the files of Git, because the program may be missing, and refuses a clone of another user. */
function clonedCommit(root: string): string | undefined {
  const link = readText(join(root, '.git')); // a file in a linked worktree
  const directory = resolve(root, /^gitdir: (.+)$/m.exec(link ?? '')?.[1] ?? '.git');
  const head = readText(join(directory, 'HEAD'));
  const ref = /^ref: (refs\/.+)$/m.exec(head ?? '')?.[1];
  if (ref === undefined) return head;
  const common = resolve(directory, readText(join(directory, 'commondir')) ?? '.');
  for (const place of [directory, common]) {
    const loose = readText(join(place, ref));
    if (loose !== undefined) return loose;
  }
  const packed = readText(join(common, 'packed-refs'))?.split('\n');
  return packed?.find((line) => line.endsWith(` ${ref}`))?.split(' ')[0];
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
