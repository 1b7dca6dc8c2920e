// Keeps batches of rows on disk until the analytics store has them: one gzip file per batch, synced before the edge
// gets its response. Their total size is bounded: the oldest are dropped and counted. The next process takes over the
// files of an ended process.

import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { constants, createGzip, type Gzip } from 'node:zlib';
import { openSpoolFolder, type SpoolFolder, syncFolder } from './spool-folder.ts';

const MIB = 1024 * 1024;
/** Maximum unpacked size of one batch, which the store receives as a whole. */
export const MOST_ROW_BYTES = 64 * MIB;

/** The disk is full, or batches that are being written or read take all of the space. */
export class SpoolFull extends Error {}

/** One batch that waits to be flushed. */
export interface SpooledBatch {
  readonly file: string;
  readonly path: string;
  /** Identifies the batch in the store. */
  readonly id: string;
  readonly lines: number;
  readonly bytes: number;
}

interface SpoolOptions {
  readonly directory: string;
  /** Maximum size of the files of this process. */
  readonly mostBytes: number;
  /** Called if batches were dropped because they were the oldest, or because they were damaged. */
  readonly onLost: (lines: number, why: 'full' | 'damaged') => void;
}

export interface SpoolWriter {
  write(octets: Uint8Array): Promise<void>;
  /** Completes and syncs the batch. It is not flushed before `release` is called. */
  hold(lines: number): Promise<HeldBatch>;
  /** Removes the batch. Does nothing after `hold`. */
  discard(): Promise<void>;
}

interface HeldBatch {
  release(): Promise<void>;
  discard(): Promise<void>;
}

/** File name with time, number, lines, edge and batch: everything that must be known without reading the file. */
const BATCH_FILE = /^(\d{13})-(\d{6})-(\d{1,9})-(\d{1,16})-([A-Za-z0-9_-]{1,64})\.ndjson\.gz$/;
const PART = '.part';
/** Errors for a disk that is full, over quota or read-only. */
const NO_ROOM = ['ENOSPC', 'EDQUOT', 'EROFS', 'EFBIG'];

export class Spool {
  readonly #options: SpoolOptions;
  readonly #folder: SpoolFolder;
  /** Sorted oldest first. */
  #waiting: SpooledBatch[] = [];
  readonly #taken = new Set<string>();
  #bytes = 0;
  #number = 0;
  #wake: () => void = () => {};

  private constructor(options: SpoolOptions, folder: SpoolFolder) {
    this.#options = options;
    this.#folder = folder;
  }

  static async open(options: SpoolOptions): Promise<Spool> {
    const spool = new Spool(options, await openSpoolFolder(options.directory));
    await spool.adopt();
    return spool;
  }

  /** Takes over the batches of ended processes. */
  async adopt(): Promise<void> {
    const files = await this.#folder.adopt((name) => BATCH_FILE.test(name));
    for (const file of files) {
      const batch = describe(file, this.#folder.path, (await stat(join(this.#folder.path, file))).size);
      this.#waiting.push(batch);
      this.#bytes += batch.bytes;
    }
    this.#waiting.sort((a, b) => (a.file < b.file ? -1 : 1));
    if (files.length > 0) this.#wake();
    await this.#makeRoom(0).catch(() => {});
  }

  /** Bytes on disk, including batches that are being written. */
  get bytes(): number {
    return this.#bytes;
  }

  get batches(): number {
    return this.#waiting.length;
  }

  /** `id` consists of the edge and its batch, separated by a colon. */
  async begin(id: string): Promise<SpoolWriter> {
    const number = String(this.#number++ % 1_000_000).padStart(6, '0');
    const begun = `${String(Date.now()).padStart(13, '0')}-${number}`;
    const part = join(this.#folder.path, `${begun}${PART}`);
    const file = await open(part, 'wx', 0o600).catch(roomOrNot);
    return new Writing(file, part, {
      take: (bytes) => this.#makeRoom(bytes),
      give: (bytes) => {
        this.#bytes -= bytes;
      },
      hold: (lines, bytes) => this.#hold(`${begun}-${lines}-${id.replace(':', '-')}.ndjson.gz`, part, bytes),
    });
  }

  /** Returns the oldest batch that is free and due. It must be released with `done` or `leave`. */
  next(isDue: (batch: SpooledBatch) => boolean): SpooledBatch | undefined {
    const batch = this.#waiting.find((each) => !this.#taken.has(each.file) && isDue(each));
    if (batch !== undefined) this.#taken.add(batch.file);
    return batch;
  }

  leave(batch: SpooledBatch): void {
    this.#taken.delete(batch.file);
  }

  /** The store has inserted the batch. */
  async done(batch: SpooledBatch): Promise<void> {
    this.#taken.delete(batch.file);
    await this.#remove(batch);
  }

  /** The batch cannot be read. */
  async damaged(batch: SpooledBatch): Promise<void> {
    this.#options.onLost(batch.lines, 'damaged');
    await this.done(batch);
  }

  /** Waits until there may be another batch, or until the time is over. */
  async arrival(timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, timeoutMs);
      signal.addEventListener('abort', end);
      this.#wake = end;
    });
  }

  async close(): Promise<void> {
    for (const name of await readdir(this.#folder.path).catch(() => []))
      if (name.endsWith(PART)) await rm(join(this.#folder.path, name), { force: true });
    await this.#folder.close();
  }

  async #hold(file: string, part: string, bytes: number): Promise<HeldBatch> {
    const path = join(this.#folder.path, file);
    await rename(part, path);
    await syncFolder(this.#folder.path);
    const batch = describe(file, this.#folder.path, bytes);
    return {
      release: async () => {
        if (this.#waiting.some(({ id }) => id === batch.id)) {
          // Another call wrote the same batch while the database was unavailable.
          await this.#delete(batch);
          return;
        }
        this.#waiting.push(batch);
        this.#wake();
      },
      discard: () => this.#delete(batch),
    };
  }

  async #makeRoom(bytes: number): Promise<void> {
    this.#bytes += bytes;
    while (this.#bytes > this.#options.mostBytes) {
      const oldest = this.#waiting.find(({ file }) => !this.#taken.has(file));
      if (oldest === undefined) {
        this.#bytes -= bytes;
        throw new SpoolFull('batches that are being written take all of the space');
      }
      this.#options.onLost(oldest.lines, 'full');
      await this.#remove(oldest);
    }
  }

  async #remove(batch: SpooledBatch): Promise<void> {
    this.#waiting = this.#waiting.filter(({ file }) => file !== batch.file);
    await this.#delete(batch);
  }

  async #delete({ path, bytes }: SpooledBatch): Promise<void> {
    this.#bytes -= bytes;
    await rm(path, { force: true });
  }
}

interface Room {
  take(bytes: number): Promise<void>;
  give(bytes: number): void;
  hold(lines: number, bytes: number): Promise<HeldBatch>;
}

class Writing implements SpoolWriter {
  readonly #file: FileHandle;
  readonly #part: string;
  readonly #room: Room;
  readonly #gzip: Gzip = createGzip({ level: constants.Z_BEST_SPEED });
  readonly #written: Promise<void>;
  #bytes = 0;
  #isOver = false;

  constructor(file: FileHandle, part: string, room: Room) {
    this.#file = file;
    this.#part = part;
    this.#room = room;
    this.#written = this.#store();
    this.#written.catch(() => {}); // handled where it is awaited
  }

  async write(octets: Uint8Array): Promise<void> {
    if (octets.length === 0) return;
    await Promise.race([
      this.#written,
      new Promise<void>((resolve, reject) => {
        this.#gzip.write(octets, (error) => (error ? reject(error) : resolve()));
      }),
    ]).catch(roomOrNot);
  }

  async hold(lines: number): Promise<HeldBatch> {
    this.#gzip.end();
    await this.#written.catch(roomOrNot);
    await this.#file.sync().catch(roomOrNot);
    await this.#file.close();
    const held = await this.#room.hold(lines, this.#bytes).catch(roomOrNot);
    this.#isOver = true;
    return held;
  }

  async discard(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#gzip.destroy();
    await this.#written.catch(() => {});
    await this.#file.close().catch(() => {});
    await rm(this.#part, { force: true });
    this.#room.give(this.#bytes);
  }

  async #store(): Promise<void> {
    for await (const piece of this.#gzip) {
      const octets = piece as Buffer;
      await this.#room.take(octets.length);
      this.#bytes += octets.length;
      for (let at = 0; at < octets.length; ) at += (await this.#file.write(octets, at)).bytesWritten;
    }
  }
}

function describe(file: string, folder: string, bytes: number): SpooledBatch {
  const [, , , lines, edge, batch] = BATCH_FILE.exec(file) as RegExpExecArray;
  return { file, path: join(folder, file), id: `${edge}:${batch}`, lines: Number(lines), bytes };
}

function roomOrNot(error: unknown): never {
  if (NO_ROOM.includes((error as NodeJS.ErrnoException).code ?? '')) {
    throw new SpoolFull('the disk is full', { cause: error });
  }
  throw error;
}
