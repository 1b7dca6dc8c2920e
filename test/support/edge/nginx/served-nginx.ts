// Debian's nginx with the part of the agent that applies configs: nginx answers with the configs that a test passes.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { EdgeNginx } from '../../../../agent/edge-nginx.mjs';
import { FindOrigins } from '../../../../agent/find-origins.mjs';
import { KeptCertificates } from '../../../../agent/keep-certificates.mjs';
import { KeptConfigs } from '../../../../agent/kept-configs.mjs';
import type { EdgeConfig } from '../../../../src/edge/edge-config.ts';
import type { Issued } from '../../certificates/make-certificate.ts';
import { freePort } from '../../processes/free-port.ts';
import { until } from '../../tests/until.ts';
import type { EdgePorts } from '../ask-edge.ts';

export const NGINX = '/usr/sbin/nginx';
export const CORE_RULES = '/usr/share/modsecurity-crs/rules';
export const MODULES = '/usr/lib/nginx/modules';

/** True if this machine has everything that the nginx tests need. */
export const hasNginx =
  [NGINX, CORE_RULES].every((path) => existsSync(path)) &&
  ['modsecurity', 'geoip2'].every((name) => existsSync(`${MODULES}/ngx_http_${name}_module.so`));

export interface ServedNginx extends EdgePorts {
  readonly state: string;
  readonly edge: EdgeNginx;
  readonly log: readonly string[];
  /** Applies configs as the newest. null removes the domain. */
  take(...configs: readonly (EdgeConfig | { readonly domain: string; readonly gone: true })[]): Promise<{
    readonly taken: readonly string[];
    readonly refused: ReadonlyMap<string, string>;
  }>;
  logged(file: string): string;
  stop(): Promise<void>;
}

/** Returns the settings file of an operator for a test on this machine. */
export async function nginxSettings(state: string) {
  const port = await freePort(2);
  return {
    state,
    listen: { http: [`127.0.0.1:${port}`], https: [`127.0.0.1:${port + 1}`] },
    statusPort: port + 2,
    nginx: NGINX,
    user: userInfo().uid === 0 ? userInfo().username : undefined,
    modules: MODULES,
    coreRules: CORE_RULES,
    countries: undefined as { file: string; field: string[] } | undefined,
    trustedProxies: ['127.0.0.9/32'],
    resolvers: [] as string[],
    allowOrigins: ['127.0.0.0/8'],
    denyOrigins: ['127.0.0.66/32'],
    maxBody: '10m',
    rateZone: '256k',
    cacheZone: '1m',
    secondsBetweenReloads: 0.05,
    secondsBetweenCacheReports: 0.2,
    report: true,
    reportDisk: '1g',
  };
}

export async function serveNginx(
  options: {
    readonly countries?: { file: string; field: string[] };
    readonly certificates?: ReadonlyMap<number, Issued>;
  } = {},
): Promise<ServedNginx> {
  const state = mkdtempSync(join(tmpdir(), 'zonefleet-nginx-'));
  const settings = { ...(await nginxSettings(state)), api: 'http://127.0.0.1', tokenFile: '' };
  settings.countries = options.countries;
  const kept = new KeptConfigs(state);
  const origins = new FindOrigins(settings);
  const certificates = new KeptCertificates(state, async (id) => {
    const made = options.certificates?.get(id);
    if (made === undefined) throw new Error('no such certificate');
    return { certificate: made.pem, private_key: made.key };
  });
  const log: string[] = [];
  const edge = new EdgeNginx(settings, {
    kept,
    origins,
    certificates,
    log: (text: string) => log.push(text),
  });
  await edge.start();
  let version = 0;
  return {
    state,
    edge,
    log,
    httpPort: settings.statusPort - 2,
    httpsPort: settings.statusPort - 1,
    async take(...configs) {
      version++;
      const changed = configs.flatMap((config) => {
        const { domain } = config;
        return kept.take({ cursor: `${version}`, domain, version, config: 'gone' in config ? null : config });
      });
      const present = configs.filter((config): config is EdgeConfig => !('gone' in config));
      for (const { certificates: told } of present) {
        for (const certificate of told)
          await certificates.ensure(certificate).catch((error: Error) => log.push(error.message));
      }
      await origins.look(present, false);
      return await edge.apply(changed);
    },
    logged: (file) => readFileSync(join(state, 'logs', file), 'utf8'),
    async stop() {
      await stopNginx(state);
      rmSync(state, { recursive: true, force: true });
    },
  };
}

/** Ends the nginx that runs with a state directory, and waits until it has ended. */
export async function stopNginx(state: string, signal: 'SIGTERM' | 'SIGQUIT' = 'SIGTERM'): Promise<void> {
  const file = join(state, 'nginx.pid');
  if (!existsSync(file)) return;
  const pid = Number(readFileSync(file, 'utf8'));
  process.kill(pid, signal);
  await until(() => !isAlive(pid), 'nginx has ended');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
