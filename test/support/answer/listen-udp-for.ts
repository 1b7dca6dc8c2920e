// Listens over UDP for a test's node, like the nameserver process.

import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import { type ChosenUdpListener, listenUdp, type UdpOptions } from '../../../src/nameserver/udp/udp.ts';
import type { ListenAddress } from '../../../src/process/listen-address.ts';
import { collectingLog } from '../processes/follow.ts';
import type { AnsweringNode } from './test-node.ts';

/**
 * Listens with one thread, or in this one, unless `more` overrides this.
 * @param counters of all threads, or of each
 */
export function listenUdpFor(
  node: AnsweringNode,
  addresses: readonly ListenAddress[],
  io: UdpOptions['io'] = 'auto',
  counters: QueryCounters | QueryCounters[] = new QueryCounters(),
  more: Partial<UdpOptions> = {},
): Promise<ChosenUdpListener> {
  const { rateLimit, amplificationLimit, asked, zoneCounts, ...settings } = node.settings;
  return listenUdp({
    addresses,
    io,
    threads: 1,
    parts: (thread) => ({
      image: node.image.buffer,
      slot: 1 + thread,
      settings,
      counters: (Array.isArray(counters) ? (counters[thread] as QueryCounters) : counters).buffer,
      rateLimit: rateLimit?.buffer,
      amplificationLimit: amplificationLimit?.buffer,
      asked: asked?.buffer,
      zoneCounts: zoneCounts?.buffer,
    }),
    log: collectingLog(),
    reportFailure: (error) => node.failures.push(error),
    ...more,
  });
}
