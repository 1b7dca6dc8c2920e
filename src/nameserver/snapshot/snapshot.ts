// What lets a node start without Postgres, and fast: the image as a base file, and a log of what was applied since. Each
// rewriting is a generation of its own, whose base and log replace the ones before when both are whole.
//
//   zones.N.image   as of one moment            zones.N.log   everything since that moment
//
// While generation N+1 is written, entries go to both logs, so that a crash finds one generation complete.

import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../process/reconnect.ts';
import { buildZone } from '../../zone/build-zone.ts';
import { findImageFault } from '../image/check/check-image.ts';
import type { Image } from '../image/image.ts';
import { FORMAT, HEADER_BYTES, READER_SLOTS_AT } from '../image/layout.ts';
import { ImageFullError } from '../image/space.ts';
import type { ImageWriter } from '../image/write-image.ts';
import { ImageProgress } from '../threads/image-progress.ts';
import type { ReadFile } from './plain-file.ts';
import { noteRestoring, readRestoreNote, removeRestoreNote, whyNotRead } from './restore-note.ts';
import { readBase, type StillImage, wipe, writeBase } from './snapshot-base.ts';
import type { FeedPlace, SnapshotEntry } from './snapshot-entry.ts';
import { LOG_ID_BYTES, readLog, SnapshotLog } from './snapshot-log.ts';
import { noWriteFailures } from './write-failures.ts';

interface SnapshotOptions {
  /** A directory of this node alone. */
  readonly directory: string;
  readonly image: Image;
  readonly log: Log;
  /** True if another process writes the snapshot: until `own` is called, files are read and none is written. */
  readonly isForeign?: boolean;
  readonly minIntervalMs?: number;
  /** Receives what is being read, and how far. */
  readonly progress?: ImageProgress;
  /** The function used instead of `readSync`. */
  readonly read?: ReadFile;
}

/**
 * A log is applied again entry by entry, at up to 0.2 ms each: it may be a quarter of the base, within these bounds.
 */
const MIN_LOG_BYTES = 64 << 10;
const MAX_LOG_BYTES = 64 << 20;
const LOG_SHARE = 1 / 4;
const MIN_INTERVAL_MS = 5000;
/** Writing the base takes at most a twentieth of the time, so that a large one leaves the disk to others. */
const PAUSE_PER_WRITING = 20;
/** Without changes the place is noted at this interval, since the feed does not keep changes forever. */
const REACH_MS = 600_000;
const FILE = /^zones\.(\d{1,15})\.(image|log|image\.tmp)$/;

export class Snapshot {
  readonly failures = noWriteFailures();
  readonly #options: SnapshotOptions;
  readonly #progress: ImageProgress;
  readonly #stopping = new AbortController();
  #generation = 0;
  #isForeign: boolean;
  #restoredId: Uint8Array | undefined;
  #baseBytes = 0;
  /** Undefined: there is no base that entries could follow. */
  #log: SnapshotLog | undefined;
  /** The log of the generation that is being written. */
  #nextLog: SnapshotLog | undefined;
  #isChanged = false;
  #reachedAtMs = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> | undefined;
  #writtenAtMs = Number.NEGATIVE_INFINITY;
  #writingMs = 0;

  constructor(options: SnapshotOptions) {
    this.#options = options;
    this.#progress = options.progress ?? new ImageProgress();
    this.#isForeign = options.isForeign ?? false;
  }

  /** Call it when the process that wrote the snapshot has ended: from now on this one writes it, beginning with a new base. */
  own(): void {
    this.#isForeign = false;
    this.#generation = Math.max(0, ...listFiles(this.#options.directory).map(({ generation }) => generation));
  }

  /**
   * Fills the image, which must be empty, from the newest base that is sound; a base that is not leaves the image
   * empty. `free` is for the writer that is then made for the image. The snapshot's files are not changed.
   */
  restoreBase(): { free: Int32Array; place: FeedPlace | undefined } | undefined {
    const { directory, log } = this.#options;
    const generations = [...new Set(listFiles(directory).map(({ generation }) => generation))];
    this.#generation = Math.max(0, ...generations);
    const note = readRestoreNote(directory);
    for (const generation of generations.sort((a, b) => b - a)) {
      const file = this.#file(generation, 'image');
      const whyNot = whyNotRead(note, generation);
      if (whyNot !== undefined) {
        log.warn({ file, why: whyNot }, 'a snapshot is ignored: the zones come from Postgres');
        continue;
      }
      try {
        const read = this.#readBase(file, generation);
        if (read.kind === 'read') {
          this.#generation = generation;
          return read;
        }
        log.warn({ file, why: read.why }, 'a snapshot is refused');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue; // it was never finished
        log.warn({ file, err: error }, 'a snapshot cannot be read');
      }
      this.restored();
    }
    return undefined;
  }

  #readBase(file: string, generation: number) {
    const { image, read: readFile } = this.#options;
    const progress = this.#progress;
    statSync(file); // one that was never finished is not worth a note
    progress.begin('reading the snapshot');
    if (!this.#isForeign) noteRestoring(this.#options.directory, generation);
    const header = image.header.slice(0, READER_SLOTS_AT);
    const fresh = new Uint8Array(image.buffer, HEADER_BYTES, image.endBytes - HEADER_BYTES);
    const first = fresh.slice();
    const onBytes = (done: number, total: number) => progress.reach(mebibytes(done), mebibytes(total));
    let filled = { from: 0, to: 0 };
    let isSound = false;
    try {
      const read = readBase(file, image.buffer, FORMAT, { onBytes, ...(readFile && { read: readFile }) });
      if (read.kind === 'refused') return read;
      filled = read;
      const free = new Int32Array(read.free.buffer);
      image.importHeader(new Int32Array(read.header.buffer));
      const isWhole = read.from === HEADER_BYTES && read.to === image.endBytes;
      const fault = isWhole ? findImageFault(image, free, progress.step) : 'its blocks are others';
      if (fault !== undefined) return { kind: 'refused' as const, why: `it cannot be served: ${fault}` };
      isSound = true;
      this.#restoredId = read.id;
      this.#baseBytes = read.to - read.from;
      return { kind: 'read' as const, free, place: read.place };
    } finally {
      if (!isSound) {
        wipe(image.buffer, filled.from, filled.to);
        image.header.set(header);
        fresh.set(first);
      }
    }
  }

  /** Call it when the image is served, or filled from Postgres: reading the snapshot is over. */
  restored(): void {
    if (!this.#isForeign) removeRestoreNote(this.#options.directory);
  }

  /** Applies what was logged since the base, and returns the place in the feed that is reached. */
  restoreLog(writer: ImageWriter, place: FeedPlace | undefined): FeedPlace | undefined {
    if (this.#restoredId === undefined) return undefined;
    const file = this.#file(this.#generation, 'log');
    let reached = place;
    this.#progress.begin('reading the log of the snapshot');
    try {
      const apply = (entry: SnapshotEntry) => {
        this.#progress.step();
        if (entry.kind === 'place') reached = entry.place;
        else applyEntry(writer, entry);
      };
      const end = readLog(file, this.#restoredId, apply, this.#options.read);
      this.#tellOfDamage(file, end);
      // What a log that ends without a place says more is worth nothing: there will be a new base.
      if (end !== undefined && reached !== undefined && !this.#isForeign)
        this.#log = SnapshotLog.goOn(file, end);
    } catch (error) {
      const message =
        error instanceof ImageFullError
          ? 'the zone image is full: the rest of the log of the snapshot comes from Postgres'
          : 'the log of the snapshot ends early: the rest comes from Postgres';
      this.#options.log.warn({ file, err: error }, message);
    }
    return reached;
  }

  #tellOfDamage(file: string, end: number | undefined): void {
    if (this.#isForeign) return; // the other process is writing its end
    const { log } = this.#options;
    const bytes = statSync(file).size;
    if (end === undefined) {
      log.warn({ file }, 'the log of the snapshot is refused: it is damaged, or belongs to another one');
    } else if (end < bytes) {
      log.warn(
        { file, lost: bytes - end },
        'the log of the snapshot ends early: the rest comes from Postgres',
      );
    }
  }

  append(entry: SnapshotEntry): void {
    this.#isChanged = true;
    try {
      this.#log?.append(entry);
      this.#nextLog?.append(entry);
    } catch (error) {
      this.#giveUpLogs(error);
    }
  }

  /** Notes that everything up to this place is applied. */
  reach(place: FeedPlace): void {
    const nowMs = performance.now();
    if (!this.#isChanged && nowMs - this.#reachedAtMs < REACH_MS) return;
    this.append({ kind: 'place', place });
    this.#flush();
    this.#isChanged = false;
    this.#reachedAtMs = nowMs;
  }

  /**
   * What is served no longer belongs to a place in the feed. All zones will be loaded, and a snapshot is written only
   * after that.
   */
  abandon(): void {
    this.append({ kind: 'place', place: undefined });
    this.#flush();
    this.#log?.close();
    this.#log = undefined;
  }

  /** Call it where the image holds the content of `place`. Returns at once. */
  writeIfDue(writer: ImageWriter, place: FeedPlace): void {
    if (this.#isForeign || this.#writing !== undefined || this.#stopping.signal.aborted) return;
    const nowMs = performance.now();
    const pauseMs =
      this.#options.minIntervalMs ?? Math.max(MIN_INTERVAL_MS, this.#writingMs * PAUSE_PER_WRITING);
    if (nowMs - this.#writtenAtMs < pauseMs) return;
    const maxLogBytes = Math.max(MIN_LOG_BYTES, Math.min(MAX_LOG_BYTES, this.#baseBytes * LOG_SHARE));
    if (this.#log !== undefined && this.#log.bytes < maxLogBytes) return;
    this.#writing = this.#write(writer, place).finally(() => {
      this.#writing = undefined;
      this.#writtenAtMs = performance.now();
      this.#writingMs = this.#writtenAtMs - nowMs;
    });
  }

  /** Gives up the generation that is being written; the one before stays. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#writing;
    this.#flush();
    this.#log?.close();
    this.#log = undefined;
  }

  /** Counts a failed write to the directory of the snapshot. */
  countFailure(error: unknown): void {
    const { code } = error as NodeJS.ErrnoException;
    this.failures[code === 'ENOSPC' || code === 'EDQUOT' ? 'disk_full' : 'other']++;
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  async #write(writer: ImageWriter, place: FeedPlace): Promise<void> {
    const { directory, image, log } = this.#options;
    const startedMs = performance.now();
    const id = randomBytes(LOG_ID_BYTES);
    const generation = this.#generation + 1;
    writer.pauseReuse();
    let isPaused = true;
    const resume = () => {
      if (isPaused) writer.resumeReuse();
      isPaused = false;
    };
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const nextLog = SnapshotLog.create(this.#file(generation, 'log'), id);
      this.#nextLog = nextLog;
      const still = stillImage(image, writer);
      const file = this.#file(generation, 'image');
      await writeBase(file, image.buffer, still, id, place, resume, this.#stopping.signal);
      if (this.#nextLog !== nextLog) throw new Error('its log could not be written');
      this.#log?.close();
      this.#log = nextLog;
      this.#nextLog = undefined;
      this.#generation = generation;
      this.#baseBytes = still.to - still.from;
      for (const found of listFiles(directory)) {
        // What stands there instead of a file goes too, lest it be met at every start.
        if (found.generation !== generation)
          rmSync(join(directory, found.name), { force: true, recursive: true });
      }
      const ms = Math.round(performance.now() - startedMs);
      log.info({ bytes: this.#baseBytes, zones: writer.zones, ms }, 'snapshot written');
    } catch (error) {
      this.#nextLog?.remove();
      this.#nextLog = undefined;
      if (!this.#stopping.signal.aborted) {
        this.countFailure(error);
        log.warn({ err: error }, 'no snapshot can be written');
      }
    } finally {
      resume();
    }
  }

  #flush(): void {
    try {
      this.#log?.flush();
      this.#nextLog?.flush();
    } catch (error) {
      this.#giveUpLogs(error);
    }
  }

  /** After a failed write a log may end in half an entry, and entries after that would not be found. */
  #giveUpLogs(error: unknown): void {
    this.countFailure(error);
    this.#options.log.warn(
      { err: error },
      'the log of the snapshot cannot be written: changes after this are not in it',
    );
    this.#log?.close();
    this.#log = undefined;
    this.#nextLog?.close();
    this.#nextLog = undefined;
  }

  #file(generation: number, kind: 'image' | 'log'): string {
    return join(this.#options.directory, `zones.${generation}.${kind}`);
  }
}

/** The image as of now: parts that are changed in place are copied. */
function stillImage(image: Image, writer: ImageWriter): StillImage {
  const { bytesAt, bytes } = writer.tableRange;
  return {
    layout: FORMAT,
    from: HEADER_BYTES,
    to: image.endBytes,
    copies: [{ at: bytesAt, bytes: new Uint8Array(image.buffer, bytesAt, bytes).slice() }],
    header: bytesOf(image.exportHeader()),
    free: bytesOf(writer.exportFree()),
  };
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

function bytesOf(words: Int32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

function listFiles(directory: string): { name: string; generation: number }[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return []; // none has been written yet, or none can be
  }
  return names.flatMap((name) => {
    const [, generation] = FILE.exec(name) ?? [];
    return generation === undefined ? [] : [{ name, generation: Number(generation) }];
  });
}

function applyEntry(writer: ImageWriter, entry: Exclude<SnapshotEntry, { kind: 'place' }>): void {
  switch (entry.kind) {
    case 'zone': {
      const built = buildZone(entry.apex, entry.records);
      if (built.kind === 'built') writer.put(built.zone, entry.content);
      return;
    }
    case 'sets':
      writer.edit(entry.apex, entry.content, entry);
      return;
    case 'removal':
      writer.remove(entry.apex);
      return;
    default:
      entry satisfies never;
  }
}
