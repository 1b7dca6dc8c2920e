// `npm run dev`: runs `npm start`, and restarts it whenever a source file changes. A signal ends both.

import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES = ['src', 'workers'];
/** Editors write a file in several steps, and tools write many files. */
const SETTLE_MS = 200;

let child;
let isEnding = false;
let isChanged = false;
let settling;

start();
for (const folder of SOURCES) watch(join(root, folder), { recursive: true }, restartSoon);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    isEnding = true;
    if (child === undefined) process.exit();
    child.kill(signal);
  });
}

function start() {
  const { npm_lifecycle_event: _, ...env } = process.env; // its parent is this process, not npm
  isChanged = false;
  child = spawn(process.execPath, ['src/start/run.mjs', 'src/start/main.ts', ...process.argv.slice(2)], {
    cwd: root,
    env,
    stdio: 'inherit',
  });
  child.once('exit', (code) => {
    if (isEnding) process.exit(code ?? 0);
    if (isChanged) return start();
    console.error('dev: npm start has ended; it will be restarted when a source file changes');
    child = undefined;
  });
}

function restartSoon() {
  clearTimeout(settling);
  settling = setTimeout(() => {
    console.error('dev: a source file has changed, restarting');
    isChanged = true;
    if (child === undefined) start();
    else child.kill('SIGTERM');
  }, SETTLE_MS);
}
