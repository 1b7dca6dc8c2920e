// The node's control socket, in its directory under DATA_DIR. `zonefleet node restart` requests a restart there, and
// the successor takes over the sockets. Both processes answer for a moment, so no answer is lost.
//
//   CLI ──restart──▶ this process ──starts──▶ the successor loads the zones ──sockets──▶ gets copies of all sockets,
//   answers on them too ──release──▶ this process stops receiving, passes its TCP connections on and ends
//
// Each message is one line of JSON. Only the user of this process may connect.

import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { CONTROL_FILE, type RestartOutcome, withControlPath } from '../../process/control-path.ts';
import type { Log } from '../../process/reconnect.ts';
import { explainEarlyEnd, OVERDUE, RESTART_LIMIT_MS } from '../../process/restart-limit.ts';
import type { Libc } from '../threads/libc.ts';
import { descriptorOf } from './inherited.ts';
import { type OpenSockets, packSockets } from './pack-sockets.ts';
import { sendDescriptors } from './pass-descriptors.ts';

/** A text for the other process, and the sockets that it describes. */
export interface Parcel {
  readonly text: object;
  readonly descriptors: readonly number[];
}

interface ControlOptions {
  readonly directory: string;
  readonly libc: Libc;
  readonly log: Log;
  /** Returns the sockets that the successor answers on. */
  readonly sockets: () => OpenSockets;
  /**
   * Starts the successor, and returns a function that kills it. Calls `failed` with the reason if the successor ends
   * before it requests the release.
   */
  readonly startSuccessor: (failed: (reason: string) => void) => () => void;
  /** Stops receiving. Yields the TCP connections in parcels, and finishes when this process no longer writes anything. */
  readonly release: () => AsyncGenerator<Parcel>;
  /** Called when the successor has disconnected after the release, or if it does not within LIMIT_MS. */
  readonly end: () => void;
}

type Request =
  | { readonly ask: 'restart' | 'sockets' | 'connections' }
  | { readonly ask: 'release'; readonly pid: number };

/** Maximum length of a request. */
const MAX_REQUEST_OCTETS = 1024;
/** Time allowed for the reason of a successor's end to arrive. */
const REASON_MS = 1000;
/** A little longer than the limit of `npm start`, which kills a successor that it started. */
const LIMIT_MS = RESTART_LIMIT_MS + 10_000;

export interface ControlSocket {
  /** Removes the socket's file, so that the successor can create its own. Connections stay open. */
  close(): Promise<void>;
}

/** Rejects if the directory is not writable. */
export async function listenControl(options: ControlOptions): Promise<ControlSocket> {
  const restarts = new Restarts(options);
  const server = createServer((socket) => serve(socket, options, restarts));
  const file = join(options.directory, CONTROL_FILE);
  rmSync(file, { force: true }); // left by a process that was killed
  await withControlPath(options.directory, (path) => {
    return new Promise<void>((done, fail) => {
      server.once('error', fail);
      const umask = process.umask(0o177); // only this user may connect
      server.listen(path, done);
      process.umask(umask);
    });
  });
  server.removeAllListeners('error');
  server.on('error', (error) =>
    options.log.warn({ err: error }, 'the control socket cannot accept connections'),
  );
  return {
    async close() {
      if (!server.listening) return; // the file may be the successor's
      server.close();
      rmSync(file, { force: true });
    },
  };
}

interface Attempt {
  killSuccessor: () => void;
}

/** The current restart, and the commands that wait for its outcome. */
class Restarts {
  readonly #options: ControlOptions;
  readonly #waiting = new Set<Socket>();
  /** Undefined if no restart is in progress. */
  #attempt: Attempt | undefined;
  /** Undefined before the release. Later requests get the same outcome, because another successor would find no sockets. */
  #restarted: RestartOutcome | undefined;
  /** The connection of the process that has copies of the sockets. */
  successor: Socket | undefined;

  constructor(options: ControlOptions) {
    this.#options = options;
  }

  ask(socket: Socket): void {
    if (this.#restarted !== undefined) {
      sendOutcome(socket, this.#restarted);
      return;
    }
    if (this.#waiting.has(socket)) return;
    this.#waiting.add(socket);
    socket.on('close', () => this.#waiting.delete(socket));
    if (this.#attempt !== undefined) return;
    const attempt: Attempt = { killSuccessor() {} };
    this.#attempt = attempt;
    setTimeout(() => this.#fail(attempt, OVERDUE), LIMIT_MS).unref();
    this.#options.log.info({}, 'restart requested: starting the successor');
    try {
      attempt.killSuccessor = this.#options.startSuccessor((reason) => this.#fail(attempt, reason));
    } catch (error) {
      this.#fail(attempt, explainEarlyEnd((error as Error).message));
    }
  }

  /** Call it if the successor disconnects before the release. The process that started it may report the reason first. */
  lose(): void {
    const attempt = this.#attempt;
    setTimeout(() => this.#fail(attempt, explainEarlyEnd('it disconnected')), REASON_MS).unref();
  }

  #fail(attempt: Attempt | undefined, reason: string): void {
    if (attempt === undefined || attempt !== this.#attempt) return;
    this.#options.log.error({ reason }, 'the restart failed: this process continues to serve');
    this.#settle({ kind: 'failed', reason });
    // Do both immediately, so that the successor can no longer request the release.
    attempt.killSuccessor();
    this.successor?.destroy();
  }

  succeed(pid: number): void {
    this.#restarted = { kind: 'restarted', pid, before: process.pid };
    this.#settle(this.#restarted);
  }

  #settle(outcome: RestartOutcome): void {
    this.#attempt = undefined;
    for (const socket of this.#waiting) sendOutcome(socket, outcome);
    this.#waiting.clear();
  }
}

function sendOutcome(socket: Socket, outcome: RestartOutcome): void {
  socket.end(`${JSON.stringify(outcome)}\n`);
}

function serve(socket: Socket, options: ControlOptions, restarts: Restarts): void {
  const { libc, log } = options;
  let sockets: Parcel[] | undefined;
  let parcels: AsyncGenerator<Parcel> | undefined;
  const send = ({ text, descriptors }: Parcel) =>
    sendDescriptors(libc, descriptorOf(socket), JSON.stringify(text), descriptors);
  const startHandover = () => {
    if (restarts.successor !== undefined)
      throw new Error('another process has already requested the sockets');
    restarts.successor = socket;
    socket.on('close', () => {
      restarts.successor = undefined;
      if (parcels === undefined) restarts.lose();
      else options.end();
    });
    return packSockets(options.sockets());
  };
  const giveSockets = () => {
    sockets ??= startHandover();
    const parcel = sockets.shift();
    if (parcel === undefined) throw new Error('the successor has all sockets');
    send(parcel);
  };
  const answer = async (request: Request): Promise<void> => {
    if (socket.destroyed) return;
    if (request.ask === 'restart') return restarts.ask(socket);
    if (request.ask === 'sockets') return giveSockets();
    if (restarts.successor !== socket) throw new Error('only the successor may send this request');
    if (request.ask === 'release' && parcels === undefined) {
      log.info({ successor: request.pid }, 'the successor answers queries: this process ends');
      parcels = options.release();
      setTimeout(options.end, LIMIT_MS).unref();
      restarts.succeed(request.pid);
    }
    const parcel = await parcels?.next();
    if (parcel?.done === false) return send(parcel.value);
    send({ text: { released: true }, descriptors: [] });
    socket.end();
  };
  socket.on('error', () => {}); // 'close' follows
  let input = '';
  let answered = Promise.resolve();
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = `${input}${chunk}`.split('\n');
    input = lines.pop() ?? '';
    if (chunk.length > MAX_REQUEST_OCTETS || input.length > MAX_REQUEST_OCTETS) return socket.destroy();
    for (const line of lines) answered = answered.then(() => answer(JSON.parse(line)));
    answered = answered.catch((error: unknown) => {
      if (!socket.destroyed) log.error({ err: error }, 'a request on the control socket failed');
      socket.destroy();
    });
    return undefined;
  });
}
