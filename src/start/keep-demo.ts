// The demo of `npm start -- --demo`: checks if it may run here, creates its domains, keeps its process running, and
// provides the settings with which our processes use its private internet.

import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { printListenAddress } from '../process/listen-address.ts';
import type { Log } from '../process/reconnect.ts';
import { giveDirectory, type ProcessUser, rootPlaceOf } from '../process/run-as.ts';
import { SETTINGS } from '../process/settings/every-setting.ts';
import type { readKeySecrets } from '../process/settings/read-key-secrets.ts';
import { StartFault } from '../process/start-fault.ts';
import { findRealDomains } from '../store/migrate/demo-state.ts';
import { openDatabase } from '../store/postgres/database.ts';
import { KeyBoxes, useKeyBoxes } from '../store/secrets/key-boxes.ts';
import { DEMO_DOMAINS } from './demo/demo-domains.ts';
import { NETWORKS, OUR_ADDRESSES, rootHints } from './demo/demo-net.ts';
import { type DemoOptions, REGISTRY_FILE } from './demo/demo-options.ts';
import { findDnsPort, findRegistrarAddress } from './demo/demo-ports.ts';
import { makeDemoDomains } from './demo/make-domains.ts';
import { playDemo } from './demo/play-demo.ts';
import { environmentWithoutSettings } from './process-environment.ts';
import { SupervisedProcess } from './supervise.ts';

interface DemoPlace {
  /** URL of the role that owns the schema. The database is migrated. */
  readonly url: string;
  readonly keySecrets: ReturnType<typeof readKeySecrets>;
  readonly dataDirectory: string;
  readonly user: ProcessUser | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
}

interface KeptDemo {
  /** Settings of our processes, by variable name. */
  readonly settings: Readonly<Record<string, string>>;
  /** The registrar's URL. */
  readonly registrar: string;
  /** Starts the demo's events once our processes run. */
  play(): void;
  stop(): Promise<void>;
}

/** The demo has its own root, nameservers and names. Settings that point elsewhere conflict with it. */
const DECIDED = [
  SETTINGS.rootHints,
  SETTINGS.trustAnchors,
  SETTINGS.dnsPortOut,
  SETTINGS.resolverAllow,
  SETTINGS.publicResolvers,
  SETTINGS.nameserverSets,
  SETTINGS.nameserverPool,
  SETTINGS.allowReservedNames,
].map(({ name }) => name);
/** Allows a domain to become `moved` after three misses and a minute, instead of a day. */
const MOVED_AFTER = '1m';
const SHOWN_NAMES = 3;

/** Throws StartFault. Called before anything is started. */
export function judgeDemoSettings(env: NodeJS.ProcessEnv): void {
  const set = DECIDED.filter((name) => (env[name] ?? '').trim() !== '');
  if (set.length > 0)
    throw new StartFault(
      `--demo: expected ${set.join(', ')} to be unset: the demo has its own root and nameservers`,
    );
}

/** Throws StartFault. */
export async function openDemo({
  url,
  keySecrets,
  dataDirectory,
  user,
  env,
  log,
}: DemoPlace): Promise<KeptDemo> {
  const db = openDatabase(url, { maxConnections: 2 });
  useKeyBoxes(db, new KeyBoxes(keySecrets));
  try {
    const real = await findRealDomains(db, SHOWN_NAMES + 1);
    if (real.length > 0) throw new StartFault(refusalOf(real));
    const dnsPort = await findDnsPort();
    const registrar = await findRegistrarAddress();
    const directory = directoryOf(dataDirectory, user);
    const made = await makeDemoDomains(db);
    // A registry of another database that was here before would delegate as it was left.
    if (made.length === DEMO_DOMAINS.length) rmSync(join(directory, REGISTRY_FILE), { force: true });
    const hints = join(directory, 'root.hints');
    writeFileSync(hints, rootHints());
    const options: DemoOptions = {
      dnsPort,
      registrar,
      directory,
      registrations: DEMO_DOMAINS.flatMap(({ name, nameservers }) =>
        nameservers === undefined ? [] : [[name, nameservers] as const],
      ),
      user,
    };
    const process = new SupervisedProcess({
      name: 'demo',
      entry: new URL('./demo/main.ts', import.meta.url),
      env: { ...environmentWithoutSettings(env), DEMO: JSON.stringify(options) },
      onCrash: (told) => log.error(told, 'a process ended and is being restarted'),
    });
    await process.start();
    const stopping = new AbortController();
    const { signal } = stopping;
    const place = `http://${printListenAddress(registrar)}`;
    let playing: Promise<void> = Promise.resolve();
    return {
      settings: settingsOf(dnsPort, hints, env),
      registrar: place,
      play() {
        const onTrouble = ({ message }: Error) => log.warn({ error: message }, 'the demo is waiting');
        playing = playDemo({ db, url: place, signal, onTrouble });
      },
      async stop() {
        stopping.abort();
        await playing;
        await process.stop();
        await db.destroy();
      },
    };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

function refusalOf(real: readonly string[]): string {
  const shown = real.slice(0, SHOWN_NAMES).map((name) => name.replace(/\.$/, ''));
  const names = `${shown.join(', ')}${real.length > SHOWN_NAMES ? ', …' : ''}`;
  return (
    `--demo: this database has domains that may be real (${names}): they do not exist below the demo's private root, ` +
    'so its checks would treat them as lost. Set DATA_DIR to another directory, or start without --demo'
  );
}

/** The process stores its registry there, and the workers read the root hints. */
function directoryOf(dataDirectory: string, user: ProcessUser | undefined): string {
  const directory = join(dataDirectory, 'demo');
  if (user !== undefined)
    return giveDirectory([directory, join(rootPlaceOf(realpathSync(dataDirectory)), 'demo')], user);
  mkdirSync(directory, { recursive: true });
  return directory;
}

function settingsOf(dnsPort: number, hints: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const ours = OUR_ADDRESSES.map((address) => printListenAddress({ address, port: dnsPort }));
  return {
    DNS_LISTEN: [usualListen(env), ...ours].join(),
    ROOT_HINTS: hints,
    DNS_PORT_OUT: String(dnsPort),
    RESOLVER_ALLOW: NETWORKS,
    PUBLIC_RESOLVERS: 'off',
    ALLOW_RESERVED_NAMES: 'on',
    MOVED_AFTER: env.MOVED_AFTER?.trim() || MOVED_AFTER,
  };
}

/** Returns the default listening addresses that exist on this machine, as without the demo. */
function usualListen(env: NodeJS.ProcessEnv): string {
  const { name, byDefault } = SETTINGS.dnsListen;
  const text = env[name]?.trim() || undefined;
  if (text !== undefined) return text;
  const hasIpv6 = Object.values(networkInterfaces()).some((each) =>
    each?.some(({ address }) => address === '::1'),
  );
  const [v4, v6] = String(byDefault).split(',');
  return hasIpv6 ? `${v4},${v6}` : String(v4);
}
