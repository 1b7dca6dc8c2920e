// The main thread's side of the image's thread: starts and ends it, keeps its state, and logs its messages.

import { setTimeout as pause } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import type { Log } from '../../process/reconnect.ts';
import { StartFault } from '../../process/start-fault.ts';
import { startThread } from '../../process/start-thread.ts';
import { noteStuck } from '../snapshot/restore-note.ts';
import { ImageProgress, StandstillWatch } from '../threads/image-progress.ts';
import type { LogMessage } from '../threads/thread-log.ts';
import type { ToTransferThread } from '../transfer/messages.ts';
import type { FollowState } from './follow-state.ts';

/** The settings of the thread. */
export interface ImageThreadOptions {
  readonly buffer: SharedArrayBuffer;
  /** The memory of AskedMarks. */
  readonly asked: SharedArrayBuffer;
  /** The memory of CountryTable. `countryDb` fills it when regions have edges; undefined if no database is configured. */
  readonly countries?: SharedArrayBuffer;
  /** The ZoneCounts memory of each answering thread. */
  readonly zoneCounts?: readonly SharedArrayBuffer[];
  /** The QueryCounters memory of each answering thread. */
  readonly counters?: readonly SharedArrayBuffer[];
  readonly countryDb?: 'shipped' | { readonly path: string } | undefined;
  /** Undefined if there is no snapshot. */
  readonly snapshotDirectory: string | undefined;
  /** True if this process replaces one that still writes the snapshot and holds the node's name until it ends. */
  readonly isSuccessor?: boolean;
  /**
   * True if `answering` will be called. If the snapshot has zones, the thread then checks them and follows the changes only
   * after that call.
   */
  readonly answersFirst?: boolean;
  /** The primary's URL. */
  readonly databaseUrl: string;
  readonly readUrl: string | undefined;
  readonly nodeName: string;
  readonly version?: string;
  /** The shared memory of ImageProgress, filled in when the thread is started. */
  readonly progress?: SharedArrayBuffer;
}

export interface WatchOptions {
  /** The interval at which the thread's progress is checked. */
  readonly checkMs?: number;
  /** The module to run instead of image-thread.ts. */
  readonly entry?: URL;
}

type ZonesChanged = Extract<ToTransferThread, { kind: 'changed' }>;

export type FromImageThread =
  /** `isServing`: the snapshot provided zones, or has shown that there are none. */
  | { readonly kind: 'restored'; readonly isServing: boolean }
  /** The database answers; the node name is being checked. */
  | { readonly kind: 'reached' }
  /** The node holds its name, or the database could not be reached. */
  | { readonly kind: 'started' }
  /** The start failed for a reason that the operator can fix. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'state'; readonly state: FollowState }
  | ZonesChanged
  | LogMessage
  | { readonly kind: 'stopped' };

export type ToImageThread =
  | { readonly kind: 'stop' }
  /** `watches` is true if `changed` is needed. Until the first such message, the thread collects the zones. */
  | { readonly kind: 'watch'; readonly watches: boolean }
  /** The process answers queries. */
  | { readonly kind: 'answering' }
  /** The process that this one replaces has ended. */
  | { readonly kind: 'predecessor-ended' };

export interface ImageThread {
  /** Resolves when the snapshot was read or does not exist. `isServing` is true if zones can be served now. */
  readonly restored: Promise<{ isServing: boolean }>;
  readonly progress: ImageProgress;
  /** Returns true if the database has been reached. */
  isReached(): boolean;
  /** Resolves when the thread follows the changes. Rejects with ImageThreadFault. */
  readonly started: Promise<void>;
  /** Returns undefined until the thread follows the changes. */
  state(): FollowState | undefined;
  /** Starts or stops the reports of zones whose served content changes. */
  watch(watches: boolean): void;
  /** Sets the listener of these reports. */
  onZones(listener: (message: ZonesChanged) => void): void;
  /** Call it when the process answers queries. */
  answering(): void;
  /** Call it when the process that this one replaces has ended. */
  predecessorEnded(): void;
  stop(): Promise<void>;
}

/** The start failed for a reason that the operator can fix. */
class ImageThreadFault extends StartFault {
  override readonly name = 'ImageThreadFault';
}

const STOP_TIMEOUT_MS = 2500;
const CHECK_MS = 1000;
const END_TIMEOUT_MS = 2000;

/**
 * @param onEnd called if the thread ends unexpectedly or is ended because it made no progress; the image then has no writer
 */
export function startImageThread(
  options: ImageThreadOptions,
  log: Log,
  onEnd: (error: Error) => void,
  { checkMs = CHECK_MS, entry = new URL('./image-thread.ts', import.meta.url) }: WatchOptions = {},
): ImageThread {
  const progress = new ImageProgress();
  const thread = startThread('image', entry, { ...options, progress: progress.buffer });
  const exited = new Promise<void>((done) => thread.once('exit', () => done()));
  let state: FollowState | undefined;
  let isReached = false;
  let isStopping = false;
  let reportZones: (message: ZonesChanged) => void = () => {};
  thread.on('message', (message: FromImageThread) => {
    if (message.kind === 'changed') reportZones(message);
    if (message.kind === 'log') log[message.level](message.fields, message.message);
    if (message.kind === 'state') state = message.state;
    if (message.kind === 'reached') isReached = true;
  });
  const end = (error: Error) => {
    clearInterval(checkTimer);
    if (!isStopping) onEnd(error);
    isStopping = true;
  };
  const standstill = new StandstillWatch();
  const checkTimer = setInterval(() => {
    if (isStopping || !standstill.look(progress)) return;
    const { doing } = progress;
    log.error({ doing }, 'the zone image thread makes no progress: ending the thread and the process');
    if (/^(reading|checking)/.test(doing) && options.snapshotDirectory !== undefined)
      noteStuck(options.snapshotDirectory);
    void thread.terminate();
    // A thread stuck in native code cannot be ended, and `process.exit` would wait for it.
    const kill = setTimeout(() => process.kill(process.pid, 'SIGKILL'), END_TIMEOUT_MS);
    thread.once('exit', () => clearTimeout(kill));
    end(new ImageThreadFault(`the zone image thread made no progress while it was ${doing}`));
  }, checkMs);
  checkTimer.unref();
  thread.on('error', end);
  thread.on('exit', (code) =>
    end(new ImageThreadFault(`the zone image thread ended with exit code ${code}`)),
  );

  const started = Promise.race([
    firstMessage(thread, 'started'),
    firstMessage(thread, 'failed').then(({ reason }) => {
      throw new ImageThreadFault(reason);
    }),
  ]);
  started.catch(() => undefined); // reported to whichever caller awaits it
  const stopped = firstMessage(thread, 'stopped');
  return {
    progress,
    restored: firstMessage(thread, 'restored'),
    started: started.then(() => undefined),
    isReached: () => isReached,
    state: () => state,
    watch: (watches) => thread.postMessage({ kind: 'watch', watches } satisfies ToImageThread),
    onZones(listener) {
      reportZones = listener;
    },
    answering: () => thread.postMessage({ kind: 'answering' } satisfies ToImageThread),
    predecessorEnded: () => thread.postMessage({ kind: 'predecessor-ended' } satisfies ToImageThread),
    async stop() {
      isStopping = true;
      clearInterval(checkTimer);
      thread.postMessage({ kind: 'stop' } satisfies ToImageThread);
      await Promise.race([stopped, exited, pause(STOP_TIMEOUT_MS, undefined, { ref: false })]);
      await thread.terminate();
    },
  };
}

/** Resolves with the first message of this kind. */
function firstMessage<K extends FromImageThread['kind']>(thread: Worker, kind: K) {
  return new Promise<Extract<FromImageThread, { kind: K }>>((done) => {
    thread.on('message', (message: FromImageThread) => {
      if (message.kind === kind) done(message as Extract<FromImageThread, { kind: K }>);
    });
  });
}
