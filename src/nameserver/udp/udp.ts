// Listens on UDP: chooses between threads of blocking calls (koffi) and node:dgram, which give the same answers.

import type { Worker } from 'node:worker_threads';
import type { ListenAddress } from '../../process/listen-address.ts';
import type { Log } from '../../process/reconnect.ts';
import type { InheritedAddress } from '../handover/inherited.ts';
import { type Libc, openLibc } from '../threads/libc.ts';
import { ANSWERER, openUdpAnswerer, type UdpAnswererParts } from './udp-answerer.ts';
import { listenDgram } from './udp-dgram.ts';
import { openUdpSockets, type UdpListener, type UdpSockets } from './udp-sockets.ts';
import { UdpThreads } from './udp-threads.ts';

export interface UdpOptions {
  readonly addresses: readonly ListenAddress[];
  /** `auto`: koffi where it works. */
  readonly io: 'auto' | 'koffi' | 'dgram';
  /** How many threads koffi uses; dgram answers in the main thread. */
  readonly threads: number;
  readonly image: SharedArrayBuffer;
  /** The first of as many reader slots as there are threads. */
  readonly firstSlot: number;
  readonly settings: UdpAnswererParts['settings'];
  /** The memory of QueryCounters, one for each thread. */
  readonly counters: (thread: number) => SharedArrayBuffer;
  /** The memory of RateLimit; undefined: no limit. */
  readonly rateLimit: SharedArrayBuffer | undefined;
  /** The memory of AmplificationLimit; undefined: no limit. */
  readonly amplificationLimit: SharedArrayBuffer | undefined;
  /** The memory of AskedMarks; undefined: nobody looks at them. */
  readonly asked?: SharedArrayBuffer;
  /** The memory of CountryTable; undefined: every address gets the edge's default sets. */
  readonly countries?: SharedArrayBuffer;
  /** The memory of ZoneCounts, one for each thread; undefined: answers are not counted by zone. */
  readonly zoneCounts?: (thread: number) => SharedArrayBuffer | undefined;
  readonly log: Log;
  /** Receives errors that queries caused: from a UDP thread at most once a second. */
  readonly reportFailure: (error: unknown) => void;
  /** Threads that already load their code, with the default answerer. */
  readonly loading?: Worker[];
  /** Sockets that another process has opened. */
  readonly inherited?: readonly InheritedAddress[];
  /** The module used instead of answer-query.ts. */
  readonly answerer?: string;
}

export type ChosenUdpListener = UdpListener &
  (
    | { readonly io: 'dgram' }
    | {
        readonly io: 'koffi';
        readonly libc: Libc;
        readonly sockets: UdpSockets;
        readonly threads: UdpThreads;
      }
  );

/** Rejects when it cannot listen on one of the addresses; then it listens on none. */
export async function listenUdp(options: UdpOptions): Promise<ChosenUdpListener> {
  const { addresses, log, reportFailure, answerer = ANSWERER } = options;
  const libc = await chooseIo(options);
  if (libc === undefined) {
    await Promise.all((options.loading ?? []).map((worker) => worker.terminate()));
    const answers = openUdpAnswerer(await import(answerer), partsOf(options, 0), reportFailure);
    return { io: 'dgram', ...(await listenDgram(addresses, answers)) };
  }
  const sockets = openUdpSockets(libc, addresses, options.threads, options.inherited);
  const parts = (thread: number) => partsOf(options, thread);
  const threads = await UdpThreads.start({
    sockets,
    parts,
    log,
    reportFailure,
    answerer,
    ...(options.loading && { loading: options.loading }),
  });
  return { io: 'koffi', libc, sockets, addresses: sockets.addresses, threads, close: () => threads.close() };
}

/** Undefined: node:dgram is used. */
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
  const {
    image,
    firstSlot,
    settings,
    counters,
    rateLimit,
    amplificationLimit,
    asked,
    countries,
    zoneCounts,
  } = options;
  const slot = firstSlot + thread;
  return {
    image,
    slot,
    settings,
    counters: counters(thread),
    rateLimit,
    amplificationLimit,
    asked,
    countries,
    zoneCounts: zoneCounts?.(thread),
  };
}
