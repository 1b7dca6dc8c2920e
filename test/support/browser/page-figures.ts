import type { CDPSession } from 'playwright-core';

interface Transfer {
  /** Transferred so far: headers and bodies, compressed as received. */
  readonly bytes: number;
  readonly requests: number;
  /** CDP's kinds: `Script`, `Stylesheet`, `Fetch`… */
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
  /** Size of the JavaScript heap. */
  readonly heapBytes: number;
  /** Nodes of all documents, including detached ones that are still referenced. */
  readonly nodes: number;
  readonly documents: number;
  readonly listeners: number;
}

/** Measured after garbage collection. */
export async function heldBy(session: CDPSession): Promise<Held> {
  // The first collection may leave objects freed by finalizers to the second.
  for (let i = 0; i < 2; i++) await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { nodes, documents, jsEventListeners } = await session.send('Memory.getDOMCounters');
  return { heapBytes: usedSize, nodes, documents, listeners: jsEventListeners };
}
