// A test's node on UDP and TCP, as the nameserver process listens.

import { parseName, ROOT } from '../../../src/dns/name.ts';
import { listenTcp } from '../../../src/nameserver/tcp/tcp.ts';
import type { ListenAddress } from '../../../src/process/listen-address.ts';
import type { ZoneChanges } from '../../../src/zone/image/edit-zone.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { startTogether } from '../tests/start-together.ts';
import { zonesOf } from '../zone/zone-text.ts';
import { listenUdpFor } from './listen-udp-for.ts';
import { nodeOf } from './queries.ts';
import type { AnsweringNode } from './test-node.ts';

export interface ServedNode {
  stop(): Promise<void>;
}

/** Takes edits of its zones while it answers. */
export async function serveEditable(
  zones: readonly Zone[],
  addresses: readonly ListenAddress[],
): Promise<ServedNode & { edit(apex: string, changes: ZoneChanges): void }> {
  const node = nodeOf(zonesOf(...zones));
  const served = await serveNode(node, addresses);
  const ids = new Map(zones.map(({ apex }, id) => [apex, id]));
  let version = 1;
  return {
    ...served,
    edit(apexText, changes) {
      const apex = parseName(apexText, ROOT);
      const content = { id: ids.get(apex) as number, version: ++version, mark: 0 };
      const edited = node.writer.edit(apex, content, changes);
      if (edited.kind === 'refused') throw new Error(`${apexText}: ${edited.problems[0]?.message}`);
    },
  };
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
