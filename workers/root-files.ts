// The files that say where the root is and by which keys it is known; a fault of one is told with its setting.

import { StartFault } from '../src/process/start-fault.ts';
import { loadRootHints } from '../src/resolver/state/root-hints.ts';
import { loadTrustAnchors } from '../src/resolver/state/trust-anchors.ts';

/** Throws StartFault. */
export function readRootHints(path: string | undefined): ReturnType<typeof loadRootHints> {
  return told('ROOT_HINTS', loadRootHints(path));
}

/** Throws StartFault. */
export function readTrustAnchors(
  settings: Parameters<typeof loadTrustAnchors>[0],
): ReturnType<typeof loadTrustAnchors> {
  return told('TRUST_ANCHORS', loadTrustAnchors(settings));
}

async function told<T>(setting: string, loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    throw new StartFault(`${setting}: ${(error as Error).message}`);
  }
}
