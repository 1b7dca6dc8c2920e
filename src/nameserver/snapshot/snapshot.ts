// Lets a node start quickly, and without Postgres. A snapshot is a base file with the image, and a log of the changes
// since then. Each time the base is rewritten, a new generation of both files replaces the old one once both are complete.
//
//   zones.N.image   the image at one moment     zones.N.log   all changes since that moment
//
// While generation N+1 is written, entries go to both logs, so that one generation is complete after a crash.

import { randomBytes } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import type { Log } from '../../process/reconnect.ts';
import type { Image } from '../image/image.ts';
import { ImageFullError } from '../image/space.ts';
import type { ImageWriter } from '../image/write-image.ts';
import { ImageProgress } from '../threads/image-progress.ts';
import type { ReadFile } from './plain-file.ts';
import {
  noteRestoring,
  noteUnsound,
  readRestoreNote,
  removeRestoreNote,
  whyNotRead,
} from './restore-note.ts';
import { applyEntry, describeDamage, restoreBase } from './restore-snapshot.ts';
import { writeBase } from './snapshot-base.ts';
import type { FeedPlace, SnapshotEntry } from './snapshot-entry.ts';
import { SnapshotFiles } from './snapshot-files.ts';
import { LOG_ID_BYTES, readLog, SnapshotLog } from './snapshot-log.ts';
import { checkInThread } from './start-check-thread.ts';
import { stillImage } from './still-image.ts';
import { noWriteFailures } from './write-failures.ts';

interface SnapshotOptions {
  /** A directory used only by this node. */
  readonly directory: string;
  readonly image: Image;
  readonly log: Log;
  /** True if another process writes the snapshot. This process then only reads it, until `own` is called. */
  readonly isForeign?: boolean;
  readonly minIntervalMs?: number;
  readonly maxLogEntries?: number;
  /** Records the progress of reading. */
  readonly progress?: ImageProgress;
  /** The function used instead of `readSync`. */
  readonly read?: ReadFile;
}

/** Applying this many entries of small edits takes about a second, and delays the first answer after a crash. */
const MAX_LOG_ENTRIES = 30_000;
/** Entries with large zones take longer, so the log is also limited to a quarter of the base's size. */
const MIN_LOG_BYTES = 64 << 10;
const MAX_LOG_BYTES = 64 << 20;
const LOG_SHARE = 1 / 4;
const MIN_INTERVAL_MS = 5000;
/** Writing bases takes at most a twentieth of the time, so that a large base leaves the disk to other programs. */
const PAUSE_PER_WRITING = 20;
/** Interval at which the position is logged if there are no changes, because the feed does not keep changes forever. */
const REACH_MS = 600_000;

export class Snapshot {
  readonly failures = noWriteFailures();
  readonly #options: SnapshotOptions;
  readonly #files: SnapshotFiles;
  readonly #progress: ImageProgress;
  readonly #stopping = new AbortController();
  #generation = 0;
  #isForeign: boolean;
  /** True from the reading of a base until its check has ended. */
  #isUnchecked = false;
  #restoredId: Uint8Array | undefined;
  #baseBytes = 0;
  /** Undefined if there is no base for entries to follow. */
  #log: SnapshotLog | undefined;
  /** The log of the generation that is being written. */
  #nextLog: SnapshotLog | undefined;
  /** Number of entries after the base, and after the base that is being written. */
  #entries = 0;
  #nextEntries = 0;
  #isChanged = false;
  #reachedAtMs = Number.NEGATIVE_INFINITY;
  #writing: Promise<void> | undefined;
  #writtenAtMs = Number.NEGATIVE_INFINITY;
  #writingMs = 0;

  constructor(options: SnapshotOptions) {
    this.#options = options;
    this.#files = new SnapshotFiles(options.directory);
    this.#progress = options.progress ?? new ImageProgress();
    this.#isForeign = options.isForeign ?? false;
  }

  /** Takes over the snapshot after the process that wrote it has ended. Writing starts with a new base. */
  own(): void {
    this.#isForeign = false;
    this.#generation = this.#files.generations()[0] ?? 0;
  }

  /**
   * Fills the empty image from the newest valid base. If there is none, the image stays empty. `free` is for the
   * image's writer. The files of the snapshot are not changed.
   */
  restoreBase(): { free: Int32Array; place: FeedPlace | undefined } | undefined {
    const { directory, log } = this.#options;
    const generations = this.#files.generations();
    this.#generation = generations[0] ?? 0;
    const note = readRestoreNote(directory);
    for (const generation of generations) {
      const file = this.#files.file(generation, 'image');
      const whyNot = whyNotRead(note, generation);
      if (whyNot !== undefined) {
        log.warn({ file, why: whyNot }, 'a snapshot is ignored: the zones are loaded from Postgres');
        continue;
      }
      try {
        const read = this.#readBase(file, generation);
        if (read.kind === 'read') {
          this.#generation = generation;
          return read;
        }
        log.warn({ file, why: read.why }, 'a snapshot is not valid');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue; // it was never finished
        log.warn({ file, err: error }, 'a snapshot cannot be read');
      }
      this.restored();
    }
    return undefined;
  }

  #readBase(file: string, generation: number) {
    const { directory, image, read } = this.#options;
    statSync(file); // throws before a note is written if the base was never finished
    this.#progress.begin('reading the snapshot');
    if (!this.#isForeign) noteRestoring(directory, generation);
    const base = restoreBase(file, image, this.#progress, read);
    if (base.kind === 'refused') return base;
    this.#isUnchecked = true;
    this.#restoredId = base.id;
    this.#baseBytes = base.bytes;
    return base;
  }

  /**
   * Checks the restored image in a thread while it answers queries. Nothing may be written to it until this resolves.
   * Rejects if the image must not be served; the next start then skips this generation.
   */
  async checkRestored(writer: ImageWriter): Promise<void> {
    const { directory, image } = this.#options;
    this.#progress.begin('checking the snapshot');
    const { buffer: progress } = this.#progress;
    const fault = await checkInThread({ buffer: image.buffer, free: writer.exportFree(), progress });
    this.#isUnchecked = false;
    if (fault !== undefined) {
      if (!this.#isForeign) noteUnsound(directory);
      throw new Error(`the content of the snapshot in ${directory} is not valid: ${fault}`);
    }
    this.#progress.begin('waiting');
    this.restored();
  }

  /** Must be called when the snapshot has been read and checked, or the image is being filled from Postgres. */
  restored(): void {
    if (!this.#isForeign) removeRestoreNote(this.#options.directory);
  }

  /** Applies the log, and returns the position in the feed that it reaches. */
  restoreLog(writer: ImageWriter, place: FeedPlace | undefined): FeedPlace | undefined {
    if (this.#restoredId === undefined) return undefined;
    const file = this.#files.file(this.#generation, 'log');
    let reached = place;
    this.#progress.begin('reading the log of the snapshot');
    try {
      const apply = (entry: SnapshotEntry) => {
        this.#progress.step();
        this.#entries++;
        if (entry.kind === 'place') reached = entry.place;
        else applyEntry(writer, entry);
      };
      const end = readLog(file, this.#restoredId, apply, this.#options.read);
      // The other process may still be writing the end of a foreign log.
      const damage = this.#isForeign ? undefined : describeDamage(file, end);
      if (damage !== undefined) this.#options.log.warn(damage.fields, damage.message);
      // A log that ends without a position is not continued; a new base will be written.
      if (end !== undefined && reached !== undefined && !this.#isForeign)
        this.#log = SnapshotLog.goOn(file, end);
    } catch (error) {
      const message =
        error instanceof ImageFullError
          ? 'the zone image is full: the remaining changes in the log of the snapshot are loaded from Postgres'
          : 'the log of the snapshot ends early: later changes are loaded from Postgres';
      this.#options.log.warn({ file, err: error }, message);
    }
    return reached;
  }

  append(entry: SnapshotEntry): void {
    this.#isChanged = true;
    this.#entries++;
    this.#nextEntries++;
    try {
      this.#log?.append(entry);
      this.#nextLog?.append(entry);
    } catch (error) {
      this.#giveUpLogs(error);
    }
  }

  /** Logs that all changes up to this position are applied. */
  reach(place: FeedPlace): void {
    const nowMs = performance.now();
    if (!this.#isChanged && nowMs - this.#reachedAtMs < REACH_MS) return;
    this.append({ kind: 'place', place });
    this.#flush();
    this.#isChanged = false;
    this.#reachedAtMs = nowMs;
  }

  /** Logs that the served zones have no position in the feed. The next snapshot follows after all zones are loaded. */
  abandon(): void {
    this.append({ kind: 'place', place: undefined });
    this.#flush();
    this.#log?.close();
    this.#log = undefined;
  }

  /** Starts writing a base if one is due, and returns immediately. The image must have the content at `place`. */
  writeIfDue(writer: ImageWriter, place: FeedPlace): void {
    if (this.#isForeign || this.#writing !== undefined || this.#stopping.signal.aborted) return;
    const nowMs = performance.now();
    const pauseMs =
      this.#options.minIntervalMs ?? Math.max(MIN_INTERVAL_MS, this.#writingMs * PAUSE_PER_WRITING);
    if (nowMs - this.#writtenAtMs < pauseMs) return;
    const maxLogBytes = Math.max(MIN_LOG_BYTES, Math.min(MAX_LOG_BYTES, this.#baseBytes * LOG_SHARE));
    const isShort = this.#entries < (this.#options.maxLogEntries ?? MAX_LOG_ENTRIES);
    if (this.#log !== undefined && isShort && this.#log.bytes < maxLogBytes) return;
    this.#writing = this.#write(writer, place).finally(() => {
      this.#writing = undefined;
      this.#writtenAtMs = performance.now();
      this.#writingMs = this.#writtenAtMs - nowMs;
    });
  }

  /** Abandons the generation being written. The previous one remains. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#isUnchecked) this.restored(); // the snapshot is not the reason why the process ends
    await this.#writing;
    this.#flush();
    this.#log?.close();
    this.#log = undefined;
  }

  /** Counts a failed write to the snapshot's directory. */
  countFailure(error: unknown): void {
    const { code } = error as NodeJS.ErrnoException;
    this.failures[code === 'ENOSPC' || code === 'EDQUOT' ? 'disk_full' : 'other']++;
  }

  /** Resolves when no write is in progress. */
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
      const nextLog = SnapshotLog.create(this.#files.file(generation, 'log'), id);
      this.#nextLog = nextLog;
      this.#nextEntries = 0;
      const still = stillImage(image, writer);
      const file = this.#files.file(generation, 'image');
      await writeBase(file, image.buffer, still, id, place, resume, this.#stopping.signal);
      if (this.#nextLog !== nextLog) throw new Error('its log could not be written');
      this.#log?.close();
      this.#log = nextLog;
      this.#nextLog = undefined;
      this.#generation = generation;
      this.#entries = this.#nextEntries;
      this.#baseBytes = still.to - still.from;
      this.#files.keepOnly(generation);
      const ms = Math.round(performance.now() - startedMs);
      log.info({ bytes: this.#baseBytes, zones: writer.zones, ms }, 'snapshot written');
    } catch (error) {
      this.#nextLog?.remove();
      this.#nextLog = undefined;
      if (!this.#stopping.signal.aborted) {
        this.countFailure(error);
        log.warn({ err: error }, 'the snapshot cannot be written');
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

  /** Closes the logs. After a failed write, a log may end in an incomplete entry, and readers would not find later ones. */
  #giveUpLogs(error: unknown): void {
    this.countFailure(error);
    this.#options.log.warn(
      { err: error },
      'the log of the snapshot cannot be written: it lacks all later changes',
    );
    this.#log?.close();
    this.#log = undefined;
    this.#nextLog?.close();
    this.#nextLog = undefined;
  }
}
