// Listening on UDP: chooses between threads of blocking calls (koffi) and node:dgram, which answer alike.

import type { Worker } from 'node:worker_threads';
import { type Libc, openLibc } from './libc.ts';
import type { Log } from './reconnect.ts';
import { ANSWERER, openUdpAnswerer, type UdpAnswererParts } from './udp-answerer.ts';
import { listenDgram } from './udp-dgram.ts';
import { openUdpSockets } from './udp-sockets.ts';
import { UdpThreads } from './udp-threads.ts';

export interface ListenAddress {
  /** IPv4 or IPv6, without brackets. */
  readonly address: string;
  /** 0: any free one. */
  readonly port: number;
}

export interface UdpListener {
  /** Where it listens, in the order asked for, ports filled in. */
  readonly addresses: readonly ListenAddress[];
  close(): Promise<void>;
}

export interface UdpOptions {
  readonly addresses: readonly ListenAddress[];
  /** `auto`: koffi where it works. */
  readonly io: 'auto' | 'koffi' | 'dgram';
  /** Of koffi; dgram has the main thread. */
  readonly threads: number;
  readonly image: SharedArrayBuffer;
  /** Of as many reader slots as there are threads. */
  readonly firstSlot: number;
  readonly settings: UdpAnswererParts['settings'];
  /** Of QueryCounters, for each thread its own. */
  readonly counters: (thread: number) => SharedArrayBuffer;
  /** Of RateLimit; undefined: no limit. */
  readonly rateLimit: SharedArrayBuffer | undefined;
  /** Of AmplificationLimit; undefined: no limit. */
  readonly amplificationLimit: SharedArrayBuffer | undefined;
  readonly log: Log;
  /** Told of bugs that queries met: by a UDP thread at most once a second. */
  readonly reportFailure: (error: unknown) => void;
  /** Threads that load already, with the answerer of before. */
  readonly loading?: Worker[];
  /** Instead of answer-query.ts. */
  readonly answerer?: string;
}

export type ChosenUdpListener = UdpListener &
  ({ readonly io: 'dgram' } | { readonly io: 'koffi'; readonly threads: UdpThreads });

/** Rejects when one of the addresses cannot be had; then none is held. */
export async function listenUdp(options: UdpOptions): Promise<ChosenUdpListener> {
  const { addresses, log, reportFailure, answerer = ANSWERER } = options;
  const libc = await chooseIo(options);
  if (libc === undefined) {
    await Promise.all((options.loading ?? []).map((worker) => worker.terminate()));
    const answers = openUdpAnswerer(await import(answerer), partsOf(options, 0), reportFailure);
    return { io: 'dgram', ...(await listenDgram(addresses, answers)) };
  }
  const sockets = openUdpSockets(libc, addresses, options.threads);
  const parts = (thread: number) => partsOf(options, thread);
  const threads = await UdpThreads.start({
    sockets,
    parts,
    log,
    reportFailure,
    answerer,
    ...(options.loading && { loading: options.loading }),
  });
  return { io: 'koffi', addresses: sockets.addresses, threads, close: () => threads.close() };
}

/** Undefined: node:dgram. */
async function chooseIo({ io, threads, log }: UdpOptions): Promise<Libc | undefined> {
  if (io === 'dgram') {
    log.info({ io }, 'UDP is answered in the main thread, with node:dgram');
    return undefined;
  }
  try {
    const libc = await openLibc();
    log.info(
      { io: 'koffi', threads },
      'UDP is answered by threads of their own, with system calls through koffi',
    );
    return libc;
  } catch (error) {
    if (io === 'koffi') throw error;
    const reason = (error as Error).message;
    log.warn(
      { io: 'dgram', reason },
      'koffi cannot be used: UDP is answered in the main thread, with node:dgram, slower',
    );
    return undefined;
  }
}

function partsOf(options: UdpOptions, thread: number): UdpAnswererParts {
  const { image, firstSlot, settings, counters, rateLimit, amplificationLimit } = options;
  const slot = firstSlot + thread;
  return { image, slot, settings, counters: counters(thread), rateLimit, amplificationLimit };
}
