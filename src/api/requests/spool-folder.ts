// The folder of one process within the spool directory. A socket in it stays open until the process ends, so that
// other processes know whose batches they may take over. No two processes write to the same folder.

import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { createServer, connect as openConnection, type Server } from 'node:net';
import { join, relative } from 'node:path';

const SOCKET = 'live';
const FOLDER = /^[0-9a-f]{12}$/;
/** Maximum length of a socket path (`sun_path`), which is 108 on Linux. */
const MOST_PATH_OCTETS = 100;

export interface SpoolFolder {
  readonly path: string;
  /** Takes over the batch files of ended processes, and returns their names. */
  adopt(isBatch: (name: string) => boolean): Promise<string[]>;
  close(): Promise<void>;
}

/** Rejects if the directory is not writable. */
export async function openSpoolFolder(directory: string): Promise<SpoolFolder> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const name = randomUUID().slice(-12);
  const path = join(directory, name);
  // Hidden until its socket listens. Before that, it would look like the folder of an ended process.
  const hidden = join(directory, `.${name}`);
  await mkdir(hidden, { mode: 0o700 });
  const server = await listenAt(join(hidden, SOCKET));
  await rename(hidden, path);
  return {
    path,
    async adopt(isBatch) {
      const adopted: string[] = [];
      for (const other of await readdir(directory)) {
        if (!FOLDER.test(other) || other === name) continue;
        const left = join(directory, other);
        if (await isLive(join(left, SOCKET))) continue;
        for (const file of await readdir(left).catch(() => [])) {
          if (!isBatch(file)) continue;
          // If another process is faster, it has the file.
          const isOurs = await rename(join(left, file), join(path, file)).then(
            () => true,
            () => false,
          );
          if (isOurs) adopted.push(file);
        }
        // Other files are useless and are removed. A batch that could not be moved stays, and so does the folder.
        for (const file of await readdir(left).catch(() => []))
          if (!isBatch(file)) await rm(join(left, file), { force: true });
        await rmdir(left).catch(() => {});
      }
      if (adopted.length > 0) await syncFolder(path);
      return adopted.sort();
    },
    async close() {
      await new Promise((resolve) => server.close(resolve));
      await unlink(join(path, SOCKET)).catch(() => {}); // close() does not remove it, because the folder was renamed
      await rmdir(path).catch(() => {}); // fails if batches are left for the next process
    },
  };
}

/** Without this, the entries of the folder may be lost in a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function listenAt(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(shortest(path), resolve);
  });
  server.unref();
  return server;
}

async function isLive(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = openConnection(shortest(path));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    // Only these errors prove that no process listens.
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(!['ECONNREFUSED', 'ENOENT'].includes(code ?? '')),
    );
  });
}

function shortest(path: string): string {
  const found = [path, relative(process.cwd(), path)].find(
    (each) => Buffer.byteLength(each) <= MOST_PATH_OCTETS,
  );
  if (found === undefined) throw new Error(`the path is too long: ${path}`);
  return found;
}
