import type { CDPSession } from 'playwright-core';

interface Transfer {
  /** Over the wire so far: heads and bodies, compressed as they came. */
  readonly bytes: number;
  readonly requests: number;
  /** Kinds as CDP names them: `Script`, `Stylesheet`, `Fetch`… */
  readonly bytesByKind: ReadonlyMap<string, number>;
}

/** Counts from now on, with an empty cache. */
export async function countTransfer(session: CDPSession): Promise<() => Transfer> {
  const bytesByKind = new Map<string, number>();
  const kinds = new Map<string, string>();
  let requests = 0;
  session.on('Network.responseReceived', ({ requestId, type }) => kinds.set(requestId, type));
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const kind = kinds.get(requestId) ?? 'Other';
    requests++;
    bytesByKind.set(kind, (bytesByKind.get(kind) ?? 0) + encodedDataLength);
  });
  await session.send('Network.enable');
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  return () => ({
    bytes: [...bytesByKind.values()].reduce((sum, bytes) => sum + bytes, 0),
    requests,
    bytesByKind: new Map(bytesByKind),
  });
}

export interface Held {
  /** Of the heap of scripts. */
  readonly heapBytes: number;
  /** Of all documents, also those that are in no tree any more and that something still holds. */
  readonly nodes: number;
  readonly documents: number;
  readonly listeners: number;
}

/** After a collection of garbage. */
export async function heldBy(session: CDPSession): Promise<Held> {
  // The first one may leave to the second what finalizers set free.
  for (let i = 0; i < 2; i++) await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { nodes, documents, jsEventListeners } = await session.send('Memory.getDOMCounters');
  return { heapBytes: usedSize, nodes, documents, listeners: jsEventListeners };
}
