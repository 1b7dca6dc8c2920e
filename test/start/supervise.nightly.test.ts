import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NODE_ENVIRONMENT, NODE_FLAGS } from '../../src/start/node-flags.ts';
import { isAlive } from '../../src/start/postgres/postmaster.ts';
import { restartDelayMs, SupervisedProcess } from '../../src/start/supervise.ts';
import { until } from '../support/tests/until.ts';

let directory: string;
let crashes: string[];
let restartLimitMs: number | undefined;
const running: SupervisedProcess[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'zf-supervise-'));
  crashes = [];
  restartLimitMs = undefined;
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
    get restartLimitMs() {
      return restartLimitMs;
    },
  });
  running.push(supervised);
  return supervised;
}

const READY =
  "process.send({ kind: 'ready', addresses: [] }); process.on('disconnect', () => process.exit());";

it('starts the process with the flags and the variables of a fleet', async () => {
  const program = `
    import { writeFileSync } from 'node:fs';
    writeFileSync(process.env.PLACE + '/started', JSON.stringify([process.execArgv, process.env]));
    ${READY}
  `;
  await supervise(program).start();
  const [flags, variables] = JSON.parse(readFileSync(join(directory, 'started'), 'utf8'));
  expect(flags).toEqual(expect.arrayContaining([...NODE_FLAGS]));
  expect(variables).toMatchObject(NODE_ENVIRONMENT);
});

/**
 * Takes over like a nameserver: the new process is ready, then the old one ends. The file `restart N` makes the process
 * request N restarts.
 */
const RESTARTABLE = `
  import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
  const place = (name) => process.env.PLACE + '/' + name;
  const isSuccessor = process.env.ZONEFLEET_SUCCESSOR === '1';
  appendFileSync(place('started'), process.pid + (isSuccessor ? ' successor' : '') + '\\n');
  process.on('disconnect', () => process.exit());
  process.on('SIGTERM', () => process.exit(0));
  process.on('message', (message) => appendFileSync(place('messages'), JSON.stringify(message) + '\\n'));
  if (isSuccessor) {
    for (;;) {
      if (existsSync(place('fail'))) {
        rmSync(place('fail'));
        process.send({ kind: 'failed', reason: 'DNS_LISTEN: in use' }, () => process.exit(1));
        await new Promise(() => {});
      }
      if (existsSync(place('succeed'))) break;
      await new Promise((done) => setTimeout(done, 5));
    }
    const before = Number(readFileSync(place('running'), 'utf8'));
    rmSync(place('succeed'));
    if (!existsSync(place('keep'))) process.kill(before, 'SIGTERM');
  }
  writeFileSync(place('running'), String(process.pid));
  process.send({ kind: 'ready', addresses: [] });
  setInterval(() => {
    if (Number(readFileSync(place('running'), 'utf8')) !== process.pid || !existsSync(place('restart'))) return;
    const count = Number(readFileSync(place('restart'), 'utf8'));
    rmSync(place('restart'));
    for (let i = 0; i < count; i++) process.send({ kind: 'restart' });
  }, 5);
`;

/** A process that can be restarted, and its events. */
async function restartable() {
  const supervised = supervise(RESTARTABLE);
  await supervised.start();
  const linesOf = (name: string) => {
    const file = join(directory, name);
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  };
  const tell = (name: string, text = '1') => {
    writeFileSync(join(directory, `${name}.new`), text);
    renameSync(join(directory, `${name}.new`), join(directory, name));
  };
  const started = () => linesOf('started').map((line) => Number.parseInt(line, 10));
  const untilStarted = (count: number) => until(() => started().length >= count, `${count} processes`);
  const isRunning = (pid: number) => pid === supervised.pid && isAlive(pid);
  return { supervised, linesOf, tell, started, untilStarted, isRunning, first: supervised.pid as number };
}

describe('a restart', () => {
  it('replaces the process when the successor is ready, and its end is not a crash', async () => {
    const { supervised, linesOf, tell, started, untilStarted, isRunning, first } = await restartable();
    tell('restart');
    await untilStarted(2);
    expect(isRunning(first)).toBe(true);
    tell('succeed');
    await until(() => supervised.pid !== first && !isAlive(first), 'the first is replaced');
    const [, second] = started();
    expect(isRunning(second as number)).toBe(true);
    // A crash of the successor counts as one, and its replacement is not a successor.
    process.kill(second as number, 'SIGKILL');
    await untilStarted(3);
    await until(() => isRunning(started()[2] as number), 'it is brought back');
    expect(crashes).toEqual(['SIGKILL']);
    expect(linesOf('started').map((line) => line.replace(/^\d+/, ''))).toEqual(['', ' successor', '']);
    await supervised.stop();
    expect(started().filter(isAlive)).toEqual([]);
  });

  it('fails if the successor ends before it is ready: the first continues, is notified, and can try again', async () => {
    const { linesOf, tell, started, untilStarted, isRunning, first } = await restartable();
    for (let attempt = 1; attempt <= 3; attempt++) {
      tell('restart');
      await untilStarted(1 + attempt);
      if (attempt < 3) tell('fail');
      else process.kill(started()[3] as number, 'SIGKILL');
      await until(() => linesOf('messages').length === attempt, 'the first is notified');
      expect(isRunning(first)).toBe(true);
    }
    const fault = 'DNS_LISTEN: in use';
    const killed = 'the new process ended before it was ready (SIGKILL); its log says why';
    expect(linesOf('messages').map((line) => JSON.parse(line))).toEqual(
      [fault, fault, killed].map((reason) => ({ kind: 'restart failed', reason })),
    );
    expect(started().filter(isAlive)).toEqual([first]);
    expect(crashes).toEqual([]);
  });

  it('fails if the successor is not ready in time: it is killed, and the first continues and can try again', async () => {
    const { supervised, linesOf, tell, started, isRunning, first } = await restartable();
    restartLimitMs = 500;
    tell('restart');
    await until(() => linesOf('messages').length === 1, 'the first is notified');
    expect(linesOf('messages')[0]).toMatch(/not ready within 10 minutes and was killed/);
    await until(() => started().filter(isAlive).length === 1, 'the successor is killed');
    expect(isRunning(first)).toBe(true);
    restartLimitMs = undefined;
    tell('succeed');
    tell('restart');
    await until(() => supervised.pid !== first && !isAlive(first), 'the first is replaced');
    expect(crashes).toEqual([]);
  });

  it('starts one successor for a flood of requests, and waits for it if the first crashes meanwhile', async () => {
    const { tell, started, untilStarted, isRunning, first } = await restartable();
    tell('restart', '500');
    await untilStarted(2);
    tell('keep');
    process.kill(first, 'SIGKILL');
    await until(() => !isAlive(first), 'the first is gone');
    tell('succeed');
    const [, second] = started();
    await until(() => isRunning(second as number), 'the successor runs');
    expect(started()).toHaveLength(2);
    expect(crashes).toEqual([]);
  });

  it('whose successor ends after the first has crashed starts another process', async () => {
    const { tell, started, untilStarted, isRunning, first } = await restartable();
    tell('restart');
    await untilStarted(2);
    process.kill(first, 'SIGKILL');
    await until(() => !isAlive(first), 'the first is gone');
    tell('fail');
    await untilStarted(3);
    await until(() => isRunning(started()[2] as number), 'it is brought back');
    expect(crashes).toEqual(['SIGKILL']);
  });

  it.each([
    'before the successor is ready',
    'while the first still ends',
  ])('can be stopped %s', async (when) => {
    const { supervised, tell, started, untilStarted, first } = await restartable();
    tell('restart');
    await untilStarted(2);
    if (when.startsWith('while')) {
      tell('keep');
      tell('succeed');
      await until(() => supervised.pid !== first, 'the successor is ready');
    }
    expect(started().filter(isAlive)).toHaveLength(2);
    await supervised.stop();
    expect(started().filter(isAlive)).toEqual([]);
    expect(crashes).toEqual([]);
  });

  it('does not delay a restart after a crash of the successor until the first has ended', async () => {
    const { supervised, tell, started, untilStarted, isRunning, first } = await restartable();
    tell('keep');
    tell('restart');
    await untilStarted(2);
    tell('succeed');
    await until(() => supervised.pid !== first, 'the successor is ready');
    process.kill(supervised.pid as number, 'SIGKILL');
    await untilStarted(3);
    await until(() => isRunning(started()[2] as number), 'it is brought back');
    expect(isAlive(first)).toBe(true);
  });
});

describe('a supervised process', () => {
  it('has started when it reports ready, and ends on request', async () => {
    const supervised = supervise(`${READY} process.on('SIGTERM', () => process.exit(0));`);
    await supervised.start();
    const pid = supervised.pid as number;
    expect(isAlive(pid)).toBe(true);
    await supervised.stop();
    expect(isAlive(pid)).toBe(false);
    expect(crashes).toEqual([]);
  });

  it('that reports why it cannot start is not retried, and one that ends before it is ready has not started', async () => {
    const supervised = supervise(
      "process.send({ kind: 'failed', reason: 'DNS_LISTEN: in use' }, () => process.exit(1));",
    );
    await expect(supervised.start()).rejects.toThrow('the nameserver did not start: DNS_LISTEN: in use');
    expect(isAlive(supervised.pid as number)).toBe(false);
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

  it('that ignores SIGTERM is killed', async () => {
    const supervised = supervise(`process.on('SIGTERM', () => {}); ${READY}`);
    await supervised.start();
    await supervised.stop();
    expect(isAlive(supervised.pid as number)).toBe(false);
  });

  it('that is stopped while it waits for a restart stays stopped', async () => {
    const supervised = supervise(`${READY} setTimeout(() => process.exit(1), 20);`);
    await supervised.start();
    await until(() => crashes.length > 0, 'a crash');
    await supervised.stop();
    expect(isAlive(supervised.pid as number)).toBe(false);
  });
});
