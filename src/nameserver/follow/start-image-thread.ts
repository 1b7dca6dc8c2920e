// The main thread's side of the image's thread: starts it, tracks its state, logs its messages, ends it.

import { setTimeout as pause } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import type { Log } from '../../process/reconnect.ts';
import { StartFault } from '../../process/start-fault.ts';
import { startThread } from '../../process/start-thread.ts';
import { noteStuck } from '../snapshot/restore-note.ts';
import { ImageProgress, StandstillWatch } from '../threads/image-progress.ts';
import type { FollowState } from './follow-state.ts';

/** The settings of the thread. */
export interface ImageThreadOptions {
  readonly buffer: SharedArrayBuffer;
  /** The memory of AskedMarks. */
  readonly asked: SharedArrayBuffer;
  /** The memory of CountryTable, and what it is filled from once regions have edges; undefined: no database is wanted. */
  readonly countries?: SharedArrayBuffer;
  /** The memory of ZoneCounts of all threads that answer. */
  readonly zoneCounts?: readonly SharedArrayBuffer[];
  /** The memory of QueryCounters of all threads that answer. */
  readonly counters?: readonly SharedArrayBuffer[];
  readonly countryDb?: 'shipped' | { readonly path: string } | undefined;
  /** Undefined: there is no snapshot. */
  readonly snapshotDirectory: string | undefined;
  /** True if this process replaces one that still runs, and that writes the snapshot and has the node's name until it ends. */
  readonly isSuccessor?: boolean;
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
  readonly lookMs?: number;
  /** The module to run instead of image-thread.ts. */
  readonly entry?: URL;
}

export type FromImageThread =
  /** `isServing`: a snapshot has brought zones, or has shown that there are none. */
  | { readonly kind: 'restored'; readonly isServing: boolean }
  /** The database answers, and is asked whether the name is free. */
  | { readonly kind: 'reached' }
  /** The node has its name, as far as the database could be asked. */
  | { readonly kind: 'started' }
  /** The start failed for a reason that the operator can fix. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'state'; readonly state: FollowState }
  | { readonly kind: 'log'; readonly level: keyof Log; readonly fields: object; readonly message: string }
  | { readonly kind: 'stopped' };

export type ToImageThread =
  | { readonly kind: 'stop' }
  /** The process that this one replaces has ended. */
  | { readonly kind: 'alone' };

export interface ImageThread {
  /** Resolves when the snapshot is read or there is none, and says whether zones can be served now. */
  readonly restored: Promise<{ isServing: boolean }>;
  readonly progress: ImageProgress;
  /** Whether the database has been reached. */
  isReached(): boolean;
  /** Resolves when the thread follows the changes; rejects with ImageThreadFault. */
  readonly started: Promise<void>;
  /** Undefined: the thread has not started following yet. */
  state(): FollowState | undefined;
  /** Call it when the process that this one replaces has ended. */
  beAlone(): void;
  stop(): Promise<void>;
}

/** The start failed for a reason that the operator can fix. */
class ImageThreadFault extends StartFault {
  override readonly name = 'ImageThreadFault';
}

const STOP_TIMEOUT_MS = 2500;
const LOOK_MS = 1000;
const END_TIMEOUT_MS = 2000;

/**
 * `onEnd` is called when the thread ends without being asked to, or is ended because it stands still: then there is no
 * writer of the image any more.
 */
export function startImageThread(
  options: ImageThreadOptions,
  log: Log,
  onEnd: (error: Error) => void,
  { lookMs = LOOK_MS, entry = new URL('./image-thread.ts', import.meta.url) }: WatchOptions = {},
): ImageThread {
  const progress = new ImageProgress();
  const thread = startThread('image', entry, { ...options, progress: progress.buffer });
  const exited = new Promise<void>((done) => thread.once('exit', () => done()));
  let state: FollowState | undefined;
  let isReached = false;
  let isStopping = false;
  thread.on('message', (message: FromImageThread) => {
    if (message.kind === 'log') log[message.level](message.fields, message.message);
    if (message.kind === 'state') state = message.state;
    if (message.kind === 'reached') isReached = true;
  });
  const end = (error: Error) => {
    clearInterval(looks);
    if (!isStopping) onEnd(error);
    isStopping = true;
  };
  const standstill = new StandstillWatch();
  const looks = setInterval(() => {
    if (isStopping || !standstill.look(progress)) return;
    const { doing } = progress;
    log.error({ doing }, 'the thread of the zone image stands still: it is ended, and the process with it');
    if (doing.startsWith('reading') && options.snapshotDirectory !== undefined)
      noteStuck(options.snapshotDirectory);
    void thread.terminate();
    // Stuck in native code it cannot be ended, and `process.exit` would wait for it.
    const kill = setTimeout(() => process.kill(process.pid, 'SIGKILL'), END_TIMEOUT_MS);
    thread.once('exit', () => clearTimeout(kill));
    end(new ImageThreadFault(`the thread of the zone image stood still while it was ${doing}`));
  }, lookMs);
  looks.unref();
  thread.on('error', end);
  thread.on('exit', (code) => end(new ImageThreadFault(`the thread of the zone image ended with ${code}`)));

  const started = Promise.race([
    hear(thread, 'started'),
    hear(thread, 'failed').then(({ reason }) => {
      throw new ImageThreadFault(reason);
    }),
  ]);
  started.catch(() => undefined); // told to whoever awaits it
  const stopped = hear(thread, 'stopped');
  return {
    progress,
    restored: hear(thread, 'restored'),
    started: started.then(() => undefined),
    isReached: () => isReached,
    state: () => state,
    beAlone: () => thread.postMessage({ kind: 'alone' } satisfies ToImageThread),
    async stop() {
      isStopping = true;
      clearInterval(looks);
      thread.postMessage({ kind: 'stop' } satisfies ToImageThread);
      await Promise.race([stopped, exited, pause(STOP_TIMEOUT_MS, undefined, { ref: false })]);
      await thread.terminate();
    },
  };
}

/** Waits for the first message of that kind. */
function hear<K extends FromImageThread['kind']>(thread: Worker, kind: K) {
  return new Promise<Extract<FromImageThread, { kind: K }>>((done) => {
    thread.on('message', (message: FromImageThread) => {
      if (message.kind === kind) done(message as Extract<FromImageThread, { kind: K }>);
    });
  });
}
