// An observer elsewhere (docs/rules.md "Vantage points"): takes names from the API, observes their delegation from
// its own root hints, and signs the result. It has no database or queue, and waits for the API for any time.

import type { KeyObject } from 'node:crypto';
import { dropRights } from '../../src/process/drop-rights.ts';
import { listenHealth, type Readiness } from '../../src/process/listen-health.ts';
import { openLog } from '../../src/process/log.ts';
import { chooseUser, loadAccounts } from '../../src/process/run-as.ts';
import { type ProcessLife, runProcess } from '../../src/process/run-process.ts';
import { readSettings, type SettingsOf } from '../../src/process/settings/read-settings.ts';
import { StartFault } from '../../src/process/start-fault.ts';
import { fingerprintOf, publicKeyOf } from '../../src/process/vantage-signature.ts';
import { createObserverMetrics } from './metrics.ts';
import { Observer } from './observer.ts';
import { openResolver } from './open-resolver.ts';
import { createVantageClient } from './vantage-client.ts';

type Settings = SettingsOf<'observer'>;

/** Maximum number of log lines per minute about the state of the API, so that they cannot fill the disk. */
const MOST_CHANGES_LOGGED = 10;

async function start(settings: Settings, life: ProcessLife): Promise<void> {
  const log = openLog('observer', settings.logLevel);
  for (const warning of settings.warnings) log.warn(warning);
  const { name, key, url } = requireVantage(settings);
  const user = chooseUser(settings.runAs, loadAccounts());
  const resolver = await openResolver(settings, (fault) =>
    log.error({ fault }, 'the root does not validate here; see docs/operating/workers.md "Trust anchors"'),
  );
  life.onStop(() => resolver.close());
  const changes = perMinute(MOST_CHANGES_LOGGED);
  const observer: Observer = new Observer({
    client: createVantageClient({ url, name, key }),
    resolver,
    onOutcome(outcome, detail) {
      metrics.countOutcome(outcome);
      if (outcome === 'failed') log.error({ detail }, 'a job failed: report this bug');
      else if (outcome !== 'taken') log.debug({ outcome, detail }, 'a job was not answered');
    },
    onApi(trouble) {
      const isOften = !changes.take();
      if (trouble === undefined) log[isOften ? 'debug' : 'info']('the API is available');
      else log[isOften ? 'debug' : 'warn']({ reason: trouble }, 'the API cannot be used and will be retried');
    },
  });
  const metrics = createObserverMetrics({
    running: () => observer.running(),
    isReached: () => observer.trouble === undefined,
    packets: () => ({ ...resolver.packets() }),
    hasRootFault: () => resolver.hasRootFault(),
  });
  const readiness = (): Readiness =>
    observer.trouble === undefined ? { kind: 'ready' } : { kind: 'waiting', reason: observer.trouble };
  const { metricsListen, metricsHosts } = settings;
  const health = await listenHealth(metricsListen, metrics.registry, readiness, metricsHosts);
  life.onStop(() => health.close());
  dropRights(user, log);
  observer.start();
  life.onStop(() => observer.stop());
  const fingerprint = fingerprintOf(publicKeyOf(key));
  log.info({ vantage: name, api: url.href, fingerprint, metrics: health.address }, 'ready');
  life.ready({ addresses: [] });
}

function perMinute(most: number): { take(): boolean } {
  let begun = performance.now();
  let taken = 0;
  return {
    take() {
      if (performance.now() - begun > 60_000) [begun, taken] = [performance.now(), 0];
      return ++taken <= most;
    },
  };
}

function requireVantage({ vantage, vantageKey, vantageApi }: Settings): {
  name: string;
  key: KeyObject;
  url: URL;
} {
  const wanted = { VANTAGE: vantage, VANTAGE_KEY: vantageKey, VANTAGE_API: vantageApi };
  const missing = Object.entries(wanted).flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (vantage === undefined || vantageKey === undefined || vantageApi === undefined)
    throw new StartFault(
      `${missing.join(', ')}: required by an observer; \`zonefleet vantage add\` creates a key`,
    );
  return { name: vantage, key: vantageKey, url: vantageApi };
}

runProcess((life) => start(readSettings(process.env, 'observer'), life));
