// UDP threads for a test, on 127.0.0.1. When forked, it is a process with one such thread, which reports its port.

import { fileURLToPath } from 'node:url';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import { createImage } from '../../../src/nameserver/image/image.ts';
import { openLibc } from '../../../src/nameserver/threads/libc.ts';
import { openUdpSockets } from '../../../src/nameserver/udp/udp-sockets.ts';
import { UdpThreads, type UdpThreadsOptions } from '../../../src/nameserver/udp/udp-threads.ts';
import type { ListenAddress } from '../../../src/process/listen-address.ts';
import { collectingLog } from '../processes/follow.ts';
import { COMMANDED_ANSWERER } from './bundled-answerer.ts';

export interface RunningThreads {
  readonly threads: UdpThreads;
  readonly address: ListenAddress;
  readonly log: ReturnType<typeof collectingLog>;
}

export async function startUdpThreads(
  count: number,
  options: Partial<UdpThreadsOptions> = {},
): Promise<RunningThreads> {
  const addresses = [{ address: '127.0.0.1', port: 0 }];
  const sockets = options.sockets ?? openUdpSockets(await openLibc(), addresses, count);
  const log = collectingLog();
  const image = createImage(1 << 20, 0x5eed);
  const settings = { nodeName: 'test', version: 'test', cookieSecrets: [], tcpIdleTimeoutMs: 1000 };
  const threads = await UdpThreads.start({
    sockets,
    log,
    parts: (thread) => ({
      image,
      settings,
      slot: 1 + thread,
      counters: new QueryCounters().buffer,
      rateLimit: undefined,
      amplificationLimit: undefined,
    }),
    answerer: COMMANDED_ANSWERER,
    reportFailure: () => {},
    ...options,
  });
  return { threads, log, address: sockets.addresses[0] as ListenAddress };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { address } = await startUdpThreads(1, { watchIntervalMs: 50 });
  process.send?.(address);
}
