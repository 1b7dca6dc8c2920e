// Each case is a small process of its own, started by way of `runProcess` as ours are.

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../support/tests/until.ts';

const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const SOURCES = new URL('../../src/process/', import.meta.url);

let folder: string;
const children: ChildProcess[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'zonefleet-process-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** `body` is that of the start: `life` is given to it; `say` writes a line. */
function start(body: string, { hasParent = true } = {}) {
  const file = join(folder, `process-${children.length}-${Math.random().toString(36).slice(2)}.mts`);
  const lines = [
    `import { runProcess } from '${new URL('run-process.ts', SOURCES)}';`,
    `import { StartFault } from '${new URL('start-fault.ts', SOURCES)}';`,
    `const say = (text: string) => process.stdout.write(text + '\\n');`,
    'const forever = new Promise<void>(() => {});',
    `runProcess(async (life) => { ${body} }, { stopTimeoutMs: 500 });`,
  ];
  writeFileSync(file, lines.join('\n'));
  const child: ChildProcess = hasParent
    ? fork(file, [], { execArgv: ['--import', TSX], silent: true })
    : spawn(process.execPath, ['--import', TSX, file], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  const told: unknown[] = [];
  child.on('message', (message) => told.push(message));
  const out = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      out[stream] += text;
    });
  }
  const closed = ['stdout', 'stderr'].map((stream) => once(child[stream as 'stdout'] as Readable, 'close'));
  const ended = once(child, 'exit').then(async ([code]) => {
    await Promise.all(closed);
    return code as number | null;
  });
  return { child, told, out, ended, ready: () => until(() => told.length > 0, 'it has told something') };
}

const LISTENING = `
  const alive = setInterval(() => {}, 1000);
  life.onStop(async () => { say('first'); clearInterval(alive); });
  life.onStop(async () => say('second ' + life.stopping.aborted));
  life.ready({ addresses: [{ address: '127.0.0.1', port: 8053 }] });`;

describe('a process', () => {
  it.each([
    'SIGTERM',
    'SIGINT',
    'SIGHUP',
  ] as const)('tells that it is ready, and at %s closes what it opened, the last first', async (signal) => {
    const started = start(LISTENING);
    await started.ready();
    expect(started.told).toEqual([{ kind: 'ready', addresses: [{ address: '127.0.0.1', port: 8053 }] }]);
    started.child.kill(signal);
    started.child.kill(signal);
    expect(await started.ended).toBe(0);
    expect(started.out).toEqual({ stdout: 'second true\nfirst\n', stderr: '' });
  });

  it('ends in the same way when its parent is gone', async () => {
    const started = start(LISTENING);
    await started.ready();
    started.child.disconnect();
    expect(await started.ended).toBe(0);
    expect(started.out.stdout).toBe('second true\nfirst\n');
  });

  it('that cannot start says why in one line where that can be mended, and closes what it had', async () => {
    const started = start(
      `life.onStop(async () => say('closed')); throw new StartFault('API_LISTEN: taken');`,
    );
    expect(await started.ended).toBe(1);
    expect(started.told).toEqual([{ kind: 'failed', reason: 'API_LISTEN: taken' }]);
    expect(started.out).toEqual({ stdout: 'closed\n', stderr: '' });
  });

  it('that cannot go on after its start says why, and closes what it had', async () => {
    const started = start(
      `${LISTENING} setTimeout(() => life.fail(new StartFault('the writer ended')), 20);`,
    );
    expect(await started.ended).toBe(1);
    expect(started.told.at(-1)).toEqual({ kind: 'failed', reason: 'the writer ended' });
    expect(started.out).toEqual({ stdout: 'second true\nfirst\n', stderr: '' });
  });

  it('that meets a bug shows where; without a parent on stderr', async () => {
    const bug = `throw new Error('a bug');`;
    const started = start(bug);
    expect(await started.ended).toBe(1);
    expect(started.told).toEqual([{ kind: 'failed', reason: expect.stringMatching(/^Error: a bug\n +at /) }]);
    const alone = start(bug, { hasParent: false });
    expect(await alone.ended).toBe(1);
    expect(alone.out.stderr).toMatch(/^zonefleet: Error: a bug\n +at /);
  });

  it('that is stopped in the middle of its start fails nothing', async () => {
    const started = start(`
      const given = new Promise((_, fail) => life.stopping.addEventListener('abort', () => fail(new Error('given up'))));
      const alive = setInterval(() => {}, 1000);
      life.ready({ addresses: [] });
      await given;`);
    await started.ready();
    started.child.kill('SIGTERM');
    expect(await started.ended).toBe(0);
    expect(started.told).toHaveLength(1);
    expect(started.out.stderr).toBe('');
  });

  it('closes the rest when something cannot be closed, and does not wait for ever', async () => {
    const broken = start(`${LISTENING} life.onStop(async () => { throw new Error('stuck'); });`);
    await broken.ready();
    broken.child.kill('SIGTERM');
    expect(await broken.ended).toBe(1);
    expect(broken.out.stdout).toBe('second true\nfirst\n');
    expect(broken.out.stderr).toMatch(/^zonefleet: while it was stopped: Error: stuck\n/);
    const hanging = start(`${LISTENING} life.onStop(() => forever);`);
    await hanging.ready();
    hanging.child.kill('SIGTERM');
    expect(await hanging.ended).toBe(1);
    expect(hanging.out.stdout).toBe('');
  });
});
