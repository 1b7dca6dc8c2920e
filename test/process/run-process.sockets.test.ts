// Each case starts a small process with `runProcess`.

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bundle } from '../support/processes/bundle.ts';
import { until } from '../support/tests/until.ts';

let folder: string;
const children: ChildProcess[] = [];
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'zonefleet-process-'));
  const source = `export { runProcess } from './src/process/run-process.ts';
    export { StartFault } from './src/process/start-fault.ts';`;
  writeFileSync(join(folder, 'library.mjs'), bundle(source));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Starts a process whose start has this body. It may use `life`, and `say` to write a line. */
function start(body: string, { hasParent = true } = {}) {
  const file = join(folder, 'process.mjs');
  const program = `
    import { runProcess, StartFault } from './library.mjs';
    const say = (text) => process.stdout.write(text + '\\n');
    const forever = new Promise(() => {});
    runProcess(async (life) => { ${body} }, { stopTimeoutMs: 500 });`;
  writeFileSync(file, program);
  const child: ChildProcess = hasParent
    ? fork(file, { silent: true })
    : spawn(process.execPath, [file], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  const told: unknown[] = [];
  child.on('message', (message) => told.push(message));
  const out = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      out[stream] += text;
    });
  const closed = [child.stdout, child.stderr].map((stream) => once(stream as Readable, 'close'));
  const ended = once(child, 'exit').then(async ([code]) => {
    await Promise.all(closed);
    return code as number | null;
  });
  return { child, told, out, ended, ready: () => until(() => told.length > 0, 'it is ready') };
}

const LISTENING = `
  const alive = setInterval(() => {}, 1000);
  life.onStop(async () => { say('first'); clearInterval(alive); });
  life.onStop(async () => say('second ' + life.stopping.aborted));
  life.ready({ addresses: [{ address: '127.0.0.1', port: 8053 }] });`;

describe('a process', () => {
  const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  it.each(
    SIGNALS,
  )('reports that it is ready, and at %s closes what it opened, the last first', async (signal) => {
    const started = start(LISTENING);
    await started.ready();
    expect(started.told).toEqual([{ kind: 'ready', addresses: [{ address: '127.0.0.1', port: 8053 }] }]);
    started.child.kill(signal);
    started.child.kill(signal);
    expect(await started.ended).toBe(0);
    expect(started.out).toEqual({ stdout: 'second true\nfirst\n', stderr: '' });
  });

  it('calls a handler at SIGHUP if it has one, and continues', async () => {
    const started = start(`${LISTENING} life.onHangup(() => say('hung up'));`);
    await started.ready();
    for (let i = 1; i <= 2; i++) {
      started.child.kill('SIGHUP');
      await until(() => started.out.stdout === 'hung up\n'.repeat(i), 'the handler is called');
    }
    started.child.kill('SIGTERM');
    expect(await started.ended).toBe(0);
    expect(started.out.stdout).toBe('hung up\nhung up\nsecond true\nfirst\n');
  });

  it('ends in the same way when its parent disconnects', async () => {
    const started = start(LISTENING);
    await started.ready();
    started.child.disconnect();
    expect(await started.ended).toBe(0);
    expect(started.out.stdout).toBe('second true\nfirst\n');
  });

  it('that cannot start reports the reason in one line, and closes what it opened', async () => {
    const started = start(
      `life.onStop(async () => say('closed')); throw new StartFault('API_LISTEN: taken');`,
    );
    expect(await started.ended).toBe(1);
    expect(started.told).toEqual([{ kind: 'failed', reason: 'API_LISTEN: taken' }]);
    expect(started.out).toEqual({ stdout: 'closed\n', stderr: '' });
  });

  it('that fails after its start reports the reason, and closes what it opened', async () => {
    const started = start(
      `${LISTENING} setTimeout(() => life.fail(new StartFault('the writer ended')), 20);`,
    );
    expect(await started.ended).toBe(1);
    expect(started.told.at(-1)).toEqual({ kind: 'failed', reason: 'the writer ended' });
    expect(started.out).toEqual({ stdout: 'second true\nfirst\n', stderr: '' });
  });

  it('that throws an unexpected error reports the stack, on stderr if it has no parent', async () => {
    const bug = `throw new Error('a bug');`;
    const started = start(bug);
    expect(await started.ended).toBe(1);
    expect(started.told).toEqual([{ kind: 'failed', reason: expect.stringMatching(/^Error: a bug\n +at /) }]);
    const alone = start(bug, { hasParent: false });
    expect(await alone.ended).toBe(1);
    expect(alone.out.stderr).toMatch(/^zonefleet: Error: a bug\n +at /);
  });

  it('that is stopped during its start ends without an error', async () => {
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

  it('closes the rest if one close fails, and stops waiting after its time limit', async () => {
    const broken = start(`${LISTENING} life.onStop(async () => { throw new Error('stuck'); });`);
    await broken.ready();
    broken.child.kill('SIGTERM');
    expect(await broken.ended).toBe(1);
    expect(broken.out.stdout).toBe('second true\nfirst\n');
    expect(broken.out.stderr).toMatch(/^zonefleet: error while stopping: Error: stuck\n/);
    const hanging = start(`${LISTENING} life.onStop(() => forever);`);
    await hanging.ready();
    hanging.child.kill('SIGTERM');
    expect(await hanging.ended).toBe(1);
    expect(hanging.out.stdout).toBe('');
  });

  it('that reaches a limit of the system reports it in one line, without a stack', async () => {
    const { ended, out } = start(`throw Object.assign(new Error('open'), { code: 'EMFILE' });`, {
      hasParent: false,
    });
    expect(await ended).toBe(1);
    expect(out.stderr).toMatch(/^.*ulimit -n.*\n$/);
  });
});
