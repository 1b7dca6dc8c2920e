// The console is built once per version of its sources. A failure is reported and leaves nothing behind.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { consoleFolder, keepConsoleBuilt } from '../../../src/start/console/build-console.ts';

let root: string;
let sources: string;
let place: string;
const told: string[] = [];

/** A console whose build writes one file, with npm and without packages. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'zonefleet-build-'));
  sources = join(root, 'console');
  place = join(root, 'place');
  told.length = 0;
  mkdirSync(join(sources, 'node_modules'), { recursive: true });
  writeFileSync(join(sources, 'node_modules/left.txt'), '');
  write('build', "node -e \"fs.mkdirSync('dist'); fs.writeFileSync('dist/index.html', '1')\"");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(script: string, command: string): void {
  const own = { name: 'small', version: '1.0.0' };
  writeFileSync(join(sources, 'package.json'), JSON.stringify({ ...own, scripts: { [script]: command } }));
  const lock = { ...own, lockfileVersion: 3, packages: { '': own } };
  writeFileSync(join(sources, 'package-lock.json'), JSON.stringify(lock));
}

function keep(signal = new AbortController().signal): Promise<void> {
  const folder = consoleFolder(sources, place);
  return keepConsoleBuilt({ sources, folder, env: process.env, signal, say: (text) => told.push(text) });
}

it('builds a missing version once, and keeps only the result', async () => {
  await keep();
  expect(told).toEqual([
    'building the console in the background (set CONSOLE=off to skip it)',
    'the console is ready',
  ]);
  expect(readdirSync(consoleFolder(sources, place))).toEqual(['index.html']);
  await keep();
  expect(told).toHaveLength(2);
});

it('builds another version, and removes the old one', async () => {
  await keep();
  const before = consoleFolder(sources, place);
  writeFileSync(join(sources, 'main.ts'), 'changed');
  writeFileSync(join(sources, 'node_modules/left.txt'), 'no source');
  expect(consoleFolder(sources, place)).not.toBe(before);
  await keep();
  expect(readdirSync(place).map((name) => join(place, name))).toEqual([consoleFolder(sources, place)]);
});

it('uses a build that another process has made meanwhile', async () => {
  const other = "process.cwd().replace(/[.]part-[0-9]+$/, '')";
  const ofAnother = `fs.mkdirSync('dist'); fs.mkdirSync(${other}); fs.writeFileSync(${other} + '/index.html', '2')`;
  write('build', `node -e "${ofAnother.replaceAll('"', '\\"')}"`);
  await keep();
  expect(told.at(-1)).toBe('the console is ready');
  expect(readdirSync(place).map((name) => join(place, name))).toEqual([consoleFolder(sources, place)]);
  expect(readFileSync(join(consoleFolder(sources, place), 'index.html'), 'utf8')).toBe('2');
});

it('reports a failed build, and leaves nothing of it', async () => {
  write('build', 'node -e "process.exit(3)"');
  const stopping = new AbortController();
  const kept = keep(stopping.signal);
  await expect.poll(() => told.length, { timeout: 60_000 }).toBe(2);
  expect(told[1]).toMatch(/^the console could not be built: npm run failed: .*; trying again in 1 min$/);
  expect(readdirSync(place)).toEqual([]);
  stopping.abort();
  await kept;
});
