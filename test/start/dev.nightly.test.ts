import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../support/tests/until.ts';

let root: string;
let child: ChildProcess;
let said: string;

/** Replaces run.mjs: prints the text that it found, and runs until it is ended, or ends immediately. */
const PROGRAM = `import { readFileSync } from 'node:fs';
  const text = readFileSync('workers/text', 'utf8');
  console.log('began with ' + text + ' as ' + process.pid);
  process.on('SIGTERM', () => { console.log('ended'); process.exit(); });
  if (text !== 'broken') setInterval(() => {}, 1000);`;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'zf-dev-'));
  for (const folder of ['src/start', 'workers']) mkdirSync(join(root, folder), { recursive: true });
  cpSync(join(import.meta.dirname, '../../src/start/dev.mjs'), join(root, 'src/start/dev.mjs'));
  writeFileSync(join(root, 'src/start/run.mjs'), PROGRAM);
  write('one');
  said = '';
  child = spawn(process.execPath, [join(root, 'src/start/dev.mjs')], { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
});
afterEach(async () => {
  if (child.exitCode === null) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  rmSync(root, { recursive: true, force: true });
});

function write(text: string): void {
  writeFileSync(join(root, 'workers/text'), text);
}

it('restarts if a file has changed, also after a start that ended', async () => {
  await until(() => said.includes('began with one'));
  write('broken');
  await until(() => said.includes('ended\n') && said.includes('npm start has ended'));
  write('two');
  await until(() => said.includes('began with two'));
  child.kill('SIGTERM');
  expect(await once(child, 'close')).toEqual([0, null]); // its output has been read by then
  const pids = [...said.matchAll(/began with .* as (\d+)/g)].map(([, pid]) => Number(pid));
  expect(pids.length).toBeGreaterThanOrEqual(3);
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
