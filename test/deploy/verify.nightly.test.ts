// The commands of SECURITY.md that verify packages.

import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { signSums, writeSums } from '../../deploy/package/sign.ts';
import { isInstalled } from '../support/peers/peers.ts';
import { ROOT } from '../support/tests/sources.ts';

const needs = isInstalled('minisign') ? '' : ' (skipped: needs minisign)';
const [, section = ''] = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8').split('## Verify a package');
const commands = [...section.matchAll(/^ {4}(.+)$/gm)].map(([, command]) => command as string);

describe.skipIf(needs !== '')(`the commands that verify packages${needs}`, () => {
  let folder: string;
  const fileOf = (name: string) => join(folder, name);
  const succeeds = () =>
    spawnSync('bash', ['-euc', commands.join('\n')], { cwd: folder, encoding: 'utf8' }).status === 0;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'zf-verify-'));
    const files = ['zonefleet.tgz', 'zonefleet.deb'].map(fileOf);
    for (const file of files) writeFileSync(file, `content of ${file}`);
    makeKey('zonefleet');
    signSums(writeSums(folder, files), { key: fileOf('zonefleet.key'), version: '1.0.0' });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function makeKey(name: string): void {
    const words = ['-G', '-W', '-f', '-p', fileOf(`${name}.pub`), '-s', fileOf(`${name}.key`)];
    execFileSync('minisign', words, { stdio: 'ignore' });
  }

  it('accept signed packages, even if some are missing', () => {
    expect(commands).toHaveLength(2);
    expect(succeeds()).toBe(true);
    rmSync(fileOf('zonefleet.tgz'));
    expect(succeeds()).toBe(true);
  });

  it('reject an altered package', () => {
    appendFileSync(fileOf('zonefleet.deb'), 'x');
    expect(succeeds()).toBe(false);
  });

  it('reject altered checksums', () => {
    writeSums(folder, [fileOf('zonefleet.deb')]);
    expect(succeeds()).toBe(false);
  });

  it('reject the signature of another key', () => {
    makeKey('other');
    signSums(fileOf('SHA256SUMS'), { key: fileOf('other.key'), version: '1.0.0' });
    expect(succeeds()).toBe(false);
  });
});
