// A test's node on UDP and TCP, as the nameserver process listens.

import { listenTcp } from '../../../src/nameserver/tcp/tcp.ts';
import type { ListenAddress } from '../../../src/process/listen-address.ts';
import { startTogether } from '../tests/start-together.ts';
import { listenUdpFor } from './listen-udp-for.ts';
import type { AnsweringNode } from './test-node.ts';

export interface ServedNode {
  stop(): Promise<void>;
}

export async function serveNode(
  node: AnsweringNode,
  addresses: readonly ListenAddress[],
): Promise<ServedNode> {
  const stoppable = <T extends { close(): Promise<void> }>(listener: T) => ({ stop: () => listener.close() });
  const [udp, tcp] = await startTogether([
    listenUdpFor(node, addresses).then(stoppable),
    listenTcp(addresses, node).then(stoppable),
  ]);
  return {
    async stop() {
      await Promise.all([udp.stop(), tcp.stop()]);
    },
  };
}
