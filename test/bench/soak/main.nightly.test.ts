// A soak of two minutes: a fleet with faults every few seconds, in two pieces.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEBIAN_POSTGRES } from '../../../bench/soak/postgres-pair.ts';
import { readRun } from '../../../bench/soak/samples.ts';
import type { Summary } from '../../../bench/soak/summary.ts';
import { HAS_REDIS } from '../../support/database/redis.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { NEEDS_PARENT } from '../../support/peers/real-parent.ts';
import { type Program, programOf } from '../../support/processes/program.ts';

const missing = [
  ...(NEEDS_PARENT === '' ? [] : ['nsd, knotd']),
  ...(existsSync(DEBIAN_POSTGRES) ? [] : ['postgresql-15']),
  ...(HAS_REDIS ? [] : ['redis-server']),
  ...(isInstalled('unbound') ? [] : ['unbound']),
  ...(process.getuid?.() === 0 ? [] : ['root, for port 53']),
];
const suffix = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;

const OPTIONS = '--domains 4 --fault-every 6 --sample-every 3 --lag-limit 60 --seed 5'.split(' ');
const TIMEOUT_MS = 600_000;

describe.skipIf(suffix !== '')(`npm run soak${suffix}`, () => {
  let directory: string;
  let running: Program | undefined;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'zonefleet-soak-'));
    chmodSync(directory, 0o755); // for the user that Postgres runs as
  });
  afterAll(async () => {
    await running?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Returns what the run printed. Throws unless it ends with this exit code. */
  async function soak(expected: number, ...args: readonly string[]): Promise<string> {
    const command = ['src/start/run.mjs', 'bench/soak/main.ts', '--output', directory, ...OPTIONS, ...args];
    running = programOf(spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe'] }));
    const [code] = await once(running.child, 'exit');
    if (code !== expected) throw new Error(`exit code ${code}: ${running.log()}`);
    return running.log();
  }

  it('finds no wrong answer and no lost edit, and continues with the same database', {
    timeout: TIMEOUT_MS,
  }, async () => {
    await soak(0, '--hours', '0.016');
    const first = JSON.parse(readFileSync(join(directory, 'summary.json'), 'utf8')) as Summary;
    expect(first.edits).toBeGreaterThan(0);
    expect(await soak(1, '--hours', '0.012')).toContain('use --continue');
    await soak(0, '--hours', '0.012', '--continue');
    const both = JSON.parse(readFileSync(join(directory, 'summary.json'), 'utf8')) as Summary;
    expect(both).toMatchObject({ pieces: 2, failures: { wrong: 0, lost: 0, unrecovered: 0, crash: 0 } });
    expect(both.edits).toBeGreaterThan(first.edits);
    expect(both.faults.length).toBeGreaterThan(3);
    const { samples } = readRun(directory);
    expect(Object.keys(samples.at(-1)?.processes ?? {})).toEqual(
      expect.arrayContaining(['ns1', 'api-1', 'workers-1']),
    );
    for (const name of ['memory', 'descriptors', 'lag', 'answers'])
      expect(readFileSync(join(directory, `${name}.svg`), 'utf8')).toContain('<polyline');
  });
});
