import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claim } from '../../../src/start/postgres/claim.ts';
import { bundle } from '../../support/processes/bundle.ts';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zf-claim-'));
  file = join(directory, 'claim');
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('a claim', () => {
  it('has one owner, and another one after its release, which only the owner can do', () => {
    const first = claim(file, 'the directory');
    expect(() => claim(file, 'the directory')).toThrow(
      `the directory is in use by process ${process.pid}: stop that process first`,
    );
    first.release();
    claim(file, 'the directory').release();
    expect(readdirSync(directory)).toEqual([]);
    const ours = claim(file, 'the directory');
    writeFileSync(file, 'another\n');
    ours.release();
    expect(readFileSync(file, 'utf8')).toBe('another\n');
  });

  it('of a dead process is taken over, even if another process now has its pid, or its contents are invalid', () => {
    writeFileSync(file, '4194305 boot:1\n');
    claim(file, 'the directory');
    expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`^${process.pid} `));
    expect(readdirSync(directory)).toEqual(['claim']);
    writeFileSync(file, `${process.ppid} boot:1\n`);
    claim(file, 'the directory');
    expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`^${process.pid} `));
    writeFileSync(file, '');
    claim(file, 'the directory').release();
  });

  it('left by a dead process goes to exactly one of many that want it', async () => {
    writeFileSync(file, '4194305 boot:1\n');
    const program = bundle(`
      import { claim } from './src/start/postgres/claim.ts';
      try { claim(${JSON.stringify(file)}, 'it'); console.log('won'); } catch { console.log('lost'); }
      setInterval(() => {}, 60_000);`);
    const children = Array.from({ length: 4 }, () => spawn(process.execPath, ['--input-type=module']));
    for (const child of children) child.stdin.end(program);
    const said = await Promise.all(
      children.map(async ({ stdout }) => String(await once(stdout, 'data')).trim()),
    );
    for (const child of children) child.kill('SIGKILL');
    expect(said.filter((word) => word === 'won')).toHaveLength(1);
  });
});
