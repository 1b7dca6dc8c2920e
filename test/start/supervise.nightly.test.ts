import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isAlive } from '../../src/start/postgres/postmaster.ts';
import { restartDelayMs, SupervisedProcess } from '../../src/start/supervise.ts';
import { until } from '../support/tests/until.ts';

let directory: string;
let crashes: string[];
const running: SupervisedProcess[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zf-supervise-'));
  crashes = [];
});

afterEach(async () => {
  for (const process of running.splice(0)) await process.stop();
  rmSync(directory, { recursive: true, force: true });
});

function supervise(program: string, onRestart: (ms: number) => void = () => {}): SupervisedProcess {
  const file = join(directory, 'program.mjs');
  writeFileSync(file, program);
  const supervised = new SupervisedProcess({
    name: 'nameserver',
    entry: pathToFileURL(file),
    env: { ...process.env, PLACE: directory },
    onCrash: ({ ended, restartMs }) => {
      crashes.push(ended);
      onRestart(restartMs);
    },
  });
  running.push(supervised);
  return supervised;
}

const READY =
  "process.send({ kind: 'ready', addresses: [] }); process.on('disconnect', () => process.exit());";

describe('a supervised process', () => {
  it('has started when it says ready, and ends when it is told to', async () => {
    const supervised = supervise(`${READY} process.on('SIGTERM', () => process.exit(0));`);
    await supervised.start();
    const pid = supervised.pid as number;
    expect(isAlive(pid)).toBe(true);
    await supervised.stop();
    expect(isAlive(pid)).toBe(false);
    expect(crashes).toEqual([]);
  });

  it('that says why it cannot start is not tried again', async () => {
    const supervised = supervise(
      "process.send({ kind: 'failed', reason: 'DNS_LISTEN: in use' }, () => process.exit(1));",
    );
    await expect(supervised.start()).rejects.toThrow('the nameserver did not start: DNS_LISTEN: in use');
    expect(isAlive(supervised.pid as number)).toBe(false);
  });

  it('that ends before it is ready has not started', async () => {
    await expect(supervise('process.exit(7);').start()).rejects.toThrow('exit code 7');
  });

  it('that crashes is restarted immediately three times, then after growing delays', async () => {
    const delays = Array.from({ length: 13 }, (_, crashes) => restartDelayMs(crashes));
    expect(delays).toEqual([0, 0, 0, 100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000]);
    const told: number[] = [];
    const supervised = supervise(READY, (restartMs) => told.push(restartMs));
    await supervised.start();
    for (let count = 1; count <= 4; count++) {
      const pid = supervised.pid as number;
      process.kill(pid, 'SIGKILL');
      await until(() => supervised.pid !== pid && isAlive(supervised.pid as number), 'another process');
    }
    expect([told, crashes]).toEqual([[0, 0, 0, 100], Array(4).fill('SIGKILL')]);
  });

  it('that does not listen to SIGTERM is ended by force', async () => {
    const supervised = supervise(`process.on('SIGTERM', () => {}); ${READY}`);
    await supervised.start();
    await supervised.stop();
    expect(isAlive(supervised.pid as number)).toBe(false);
  });

  it('that is stopped while it waits to be brought back stays away', async () => {
    const supervised = supervise(`${READY} setTimeout(() => process.exit(1), 20);`);
    await supervised.start();
    await until(() => crashes.length > 0, 'a crash');
    await supervised.stop();
    expect(isAlive(supervised.pid as number)).toBe(false);
  });
});
