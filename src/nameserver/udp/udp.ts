// Listens on UDP. Chooses between threads with blocking calls (koffi) and node:dgram, which send the same answers.

import type { Worker } from 'node:worker_threads';
import type { ListenAddress } from '../../process/listen-address.ts';
import type { Log } from '../../process/reconnect.ts';
import { ANSWERER, type AnswererParts, openAnswerer } from '../answer/open-answerer.ts';
import type { InheritedAddress } from '../handover/inherited.ts';
import type { Observer } from '../observe/start-observe-thread.ts';
import type { SlowPath } from '../slow-path/slow-path.ts';
import { type Libc, openLibc } from '../threads/libc.ts';
import type { Xdp, XdpShare } from '../xdp/xdp.ts';
import { openUdpSockets, type UdpListener, type UdpSockets } from './udp-sockets.ts';
import { UdpThreads } from './udp-threads.ts';

export interface UdpOptions {
  readonly addresses: readonly ListenAddress[];
  /** `auto` and `xdp`: koffi if it works. */
  readonly io: 'auto' | 'koffi' | 'dgram' | 'xdp';
  /** Undefined unless the process, or the one that it replaces, uses XDP. */
  readonly xdp?: XdpChoice | undefined;
  /** Number of koffi threads. With dgram, the main thread answers. */
  readonly threads: number;
  /** Returns the parts of a thread's answerer. */
  readonly parts: (thread: number) => AnswererParts;
  /** Undefined if the node has no transfer thread. */
  readonly slowPath?: SlowPath | undefined;
  /** Undefined if no answers are sampled. */
  readonly observer?: Observer | undefined;
  readonly log: Log;
  /** Receives errors caused by queries, at most once per second from each UDP thread. */
  readonly reportFailure: (error: unknown) => void;
  /** Threads that are already loading their code, with the default answerer. */
  readonly loading?: Worker[];
  /** Sockets opened by another process. */
  readonly inherited?: readonly InheritedAddress[];
  /** The module used instead of answer-query.ts. */
  readonly answerer?: string;
}

interface XdpChoice {
  readonly interfaces: readonly string[];
  /** Maximum number of queues, for which counters and reader slots exist. */
  readonly maxQueues: number;
  /** The interfaces of the process that this one replaces. They are closed unless they are among `interfaces`. */
  readonly inherited: readonly XdpShare[];
}

export type ChosenUdpListener = UdpListener &
  (
    | { readonly io: 'dgram' }
    | {
        readonly io: 'koffi';
        readonly libc: Libc;
        readonly sockets: UdpSockets;
        readonly xdp: Xdp | undefined;
        readonly threads: UdpThreads;
      }
  );

/** Listens on all addresses. If one of them fails, rejects and listens on none. */
export async function listenUdp(options: UdpOptions): Promise<ChosenUdpListener> {
  const { addresses, parts, slowPath, observer, log, reportFailure, answerer = ANSWERER } = options;
  const libc = await chooseIo(options);
  if (libc === undefined) {
    await Promise.all((options.loading ?? []).map((worker) => worker.terminate()));
    const { listenDgram } = await import('./udp-dgram.ts');
    const answers = openAnswerer(await import(answerer), parts(0), reportFailure);
    return { io: 'dgram', ...(await listenDgram(addresses, { ...answers, observer }, slowPath)) };
  }
  const sockets = openUdpSockets(libc, addresses, options.threads, options.inherited);
  const listen = sockets.addresses;
  const xdp =
    options.xdp && (await (await import('../xdp/xdp.ts')).openXdp({ libc, ...options.xdp, listen, log }));
  const threads = await UdpThreads.start({
    sockets,
    xdp,
    parts,
    slowPath,
    observer,
    log,
    reportFailure,
    answerer,
    ...(options.loading && { loading: options.loading }),
  });
  xdp?.activate();
  return {
    io: 'koffi',
    libc,
    sockets,
    xdp,
    addresses: sockets.addresses,
    threads,
    close: () => threads.close(),
  };
}

/** Returns undefined if node:dgram is used. */
async function chooseIo({ io, threads, log }: UdpOptions): Promise<Libc | undefined> {
  if (io === 'dgram') {
    log.info({ io }, 'answering UDP in the main thread, with node:dgram');
    return undefined;
  }
  try {
    const libc = await openLibc();
    log.info({ io: 'koffi', threads }, 'answering UDP in separate threads, with system calls through koffi');
    return libc;
  } catch (error) {
    if (io === 'koffi') throw error;
    const reason = (error as Error).message;
    log.warn(
      { io: 'dgram', reason },
      'koffi cannot be used: answering UDP in the main thread with node:dgram, which is slower',
    );
    return undefined;
  }
}
