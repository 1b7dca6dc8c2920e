// Writes SHA256SUMS, and signs it with minisign.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const SUMS = 'SHA256SUMS';

/** Returns the path of SHA256SUMS, in the format of sha256sum(1). */
export function writeSums(output: string, files: readonly string[]): string {
  const lines = files
    .map((file) => `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${basename(file)}\n`)
    .sort((a, b) => (a.slice(64) < b.slice(64) ? -1 : 1));
  const sums = join(output, SUMS);
  writeFileSync(sums, lines.join(''));
  return sums;
}

/** Writes `SHA256SUMS.minisig`. minisign asks for the password of `key` if it has one. */
export function signSums(
  sums: string,
  { key, version }: { readonly key: string; readonly version: string },
): string {
  const signature = `${sums}.minisig`;
  const words = ['-S', '-s', key, '-m', sums, '-x', signature, '-t', `Zonefleet ${version}`];
  try {
    execFileSync('minisign', words, { stdio: ['inherit', 'ignore', 'inherit'] });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(code === 'ENOENT' ? 'minisign is not installed' : `minisign could not sign with ${key}`);
  }
  return signature;
}
