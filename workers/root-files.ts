// Reads the files with the root's addresses and keys. Errors name their setting.

import { StartFault } from '../src/process/start-fault.ts';
import { loadRootHints } from '../src/resolver/state/root-hints.ts';
import { loadTrustAnchors } from '../src/resolver/state/trust-anchors.ts';

/** Throws StartFault. */
export function readRootHints(path: string | undefined): ReturnType<typeof loadRootHints> {
  return withSetting('ROOT_HINTS', loadRootHints(path));
}

/** Throws StartFault. */
export function readTrustAnchors(
  settings: Parameters<typeof loadTrustAnchors>[0],
): ReturnType<typeof loadTrustAnchors> {
  return withSetting('TRUST_ANCHORS', loadTrustAnchors(settings));
}

async function withSetting<T>(setting: string, loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    throw new StartFault(`${setting}: ${(error as Error).message}`);
  }
}
