import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { StartFault } from '../../../src/process/start-fault.ts';
import { openDoorPlace } from '../../../src/start/analytics/door-place.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'zf-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Creates a directory whose socket path has this many octets. */
function ofOctets(octets: number): string {
  const directory = join(home, 'x'.repeat(octets - home.length - '//door'.length));
  mkdirSync(directory, { recursive: true });
  return directory;
}

function listenAt(path: string): Promise<void> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => server.close(() => resolve()));
  });
}

it("is the engine's directory, up to the maximum length of a socket path", async () => {
  const directory = ofOctets(107);
  const { socket, remove } = openDoorPlace(directory, undefined);
  expect(socket).toBe(join(directory, 'door'));
  await listenAt(socket);
  remove();
  expect(existsSync(directory)).toBe(true);
});

it('is otherwise a private separate directory, which is removed with its contents', async () => {
  const { socket, remove } = openDoorPlace(ofOctets(108), undefined, [home]);
  const made = dirname(socket);
  expect([dirname(made), statSync(made).mode & 0o7777]).toEqual([home, 0o700]);
  await listenAt(socket);
  remove();
  expect(readdirSync(home)).toHaveLength(1);
  remove();
});

it.skipIf(process.getuid?.() !== 0)('belongs to the user of the engine (skipped: needs root)', () => {
  const { socket } = openDoorPlace(ofOctets(200), { uid: 60_953, gid: 60_954 }, [home]);
  expect(statSync(dirname(socket))).toMatchObject({ uid: 60_953, gid: 60_954 });
});

it('counts octets, not letters', () => {
  const directory = join(home, 'é'.repeat(45));
  expect(directory.length).toBeLessThan(80);
  const { socket } = openDoorPlace(directory, undefined, [home]);
  expect(dirname(dirname(socket))).toBe(home);
});

it('is an error that names DATA_DIR if there is no such place', () => {
  const directory = ofOctets(200);
  for (const places of [[directory], [join(home, 'missing')]]) {
    const open = () => openDoorPlace(directory, undefined, places);
    expect(open).toThrow(StartFault);
    expect(open).toThrow(/^DATA_DIR: .* is too long for a socket/);
  }
});
