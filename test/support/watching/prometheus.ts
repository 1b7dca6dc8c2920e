// A Prometheus with the shipped configuration and scaled rules, which scrapes processes of a test several times per second.

import { readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startDaemon } from '../peers/daemon.ts';
import { isInstalled } from '../peers/peers.ts';
import { freePort } from '../processes/free-port.ts';
import { ROOT } from '../tests/sources.ts';
import { until } from '../tests/until.ts';
import { scaleRules } from './scaled-rules.ts';

export const NEEDS_PROMETHEUS = isInstalled('prometheus') ? '' : ' (skipped: needs prometheus)';

const FOLDER = join(ROOT, 'deploy/prometheus');
const RULE_FILES = ['zonefleet-rules.yml', 'zonefleet-alerts.yml'];
const JOBS = ['nameserver', 'api', 'workers', 'vantage'] as const;

type Job = (typeof JOBS)[number];

interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: 'pending' | 'firing';
}

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export interface Prometheus {
  /** Scrapes /metrics of these URLs, and no other URL of the job. */
  scrape(job: Job, ...urls: readonly string[]): Promise<void>;
  query(expr: string): Promise<readonly Sample[]>;
  /** Names of the metrics that the scraped processes export, with or without values. */
  families(): Promise<string[]>;
  /** Causes a fault and waits until the alert fires. Throws if it fired before. */
  fires(alert: string, cause: () => unknown): Promise<void>;
  /** Waits until the alert no longer fires. */
  ends(alert: string): Promise<void>;
  stop(): Promise<void>;
}

/** `unitSeconds` is as for `scaleRules`. */
export async function startPrometheus(
  unitSeconds: Readonly<Record<string, number>> = {},
): Promise<Prometheus> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const read = (file: string) => readFileSync(join(FOLDER, file), 'utf8');
  // The timeout of a scrape is not longer than its interval, and a test machine may be busy.
  const config = read('prometheus.yml')
    .replace('scrape_interval: 15s', 'scrape_interval: 2s')
    .replace('evaluation_interval: 15s', 'evaluation_interval: 500ms');
  const { directory, stop } = await startDaemon({
    program: 'prometheus',
    files: () => ({
      'prometheus.yml': config,
      ...Object.fromEntries(RULE_FILES.map((file) => [file, scaleRules(read(file), unitSeconds)])),
    }),
    args: (folder) => [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    prepare: async (folder) => void (await mkdir(join(folder, 'targets'))),
    isReady: () =>
      fetch(`${url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
  });
  const get = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${url}/api/v1/${path}`);
    const answer = (await response.json()) as { data: T; status: string; error?: string };
    if (answer.status !== 'success') throw new Error(`${path}: ${answer.error}`);
    return answer.data;
  };
  const query = async (expr: string): Promise<readonly Sample[]> =>
    (await get<{ result: Sample[] }>(`query?query=${encodeURIComponent(expr)}`)).result;
  const firing = async (name: string): Promise<Alert | undefined> => {
    const { alerts } = await get<{ alerts: Alert[] }>('alerts');
    return alerts.find(({ labels, state }) => labels.alertname === name && state === 'firing');
  };
  return {
    query,
    families: async () => Object.keys(await get<object>('metadata')),
    async scrape(job, ...urls) {
      const targets = urls.map((each) => new URL(each).host);
      const file = join(directory, 'targets', `${job}.yml`);
      await writeFile(`${file}.new`, JSON.stringify([{ targets }]));
      await rename(`${file}.new`, file); // Prometheus must not read half a file
      // Increments of a counter before its first scrape are not part of an increase.
      const scraped = `up{instance=~"${targets.join('|')}"}`;
      await until(async () => (await query(scraped)).length === targets.length, `${job} are scraped`);
    },
    async fires(alert, cause) {
      expect(await firing(alert), `${alert} before its cause`).toBeUndefined();
      await cause();
      const { annotations } = await until(() => firing(alert), `${alert} fires`);
      expect(Object.values(annotations).join()).not.toContain('<error');
    },
    async ends(alert) {
      await until(async () => (await firing(alert)) === undefined, `${alert} ends`);
    },
    stop,
  };
}
