// @ts-check
// Carries out purges, one after another. Failed or unreported purges are sent again by the next stream.

import { Backoff } from './backoff.mjs';
import { cacheFolder, purgeCache } from './purge-cache.mjs';
import { refreshUrl } from './refresh-url.mjs';

/**
 * @param {import('./edge-client.mjs').EdgeClient} client
 * @param {import('./settings.mjs').Settings} settings
 * @param {(text: string) => void} log
 * @param {AbortSignal} stopped
 */
export async function followPurges(client, { state, listen }, log, stopped) {
  const backoff = new Backoff();
  while (!stopped.aborted) {
    try {
      for await (const { id, domain_id, domain, target } of client.followPurges(stopped)) {
        if (id === undefined) continue; // a heartbeat
        const error = await purgeCache(cacheFolder(state, domain_id), target).then(
          () => undefined,
          (/** @type {NodeJS.ErrnoException} */ { code, message }) => code ?? message.slice(0, 100),
        );
        await client.reportPurge(id, error);
        const [place] = listen.http;
        if (target.kind === 'url' && target.refresh === true && place !== undefined)
          void refreshUrl(place, target);
        if (error !== undefined) throw new Error(`purge ${id} of ${domain}: ${error}`);
        backoff.reset();
      }
    } catch (error) {
      if (stopped.aborted) return;
      log(`the purge stream was disconnected: ${error instanceof Error ? error.message : error}`);
    }
    await backoff.wait(stopped);
  }
}
