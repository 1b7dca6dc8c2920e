// Zonefleet's API as an operator runs it (`zonefleet run api`).

import { fileURLToPath } from 'node:url';
import { generateKey } from '../../src/store/accounts/api-keys.ts';
import { freePort } from '../../test/support/processes/free-port.ts';
import { runOn } from '../postgres/cluster.ts';
import { zonefleetDatabase } from '../postgres/zonefleet-database.ts';
import { fleetCommand, type Program, runProgram } from '../program.ts';
import { type ApiUnderTest, call, untilAnswers, WORD, type ZoneRecord } from './api-under-test.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface ZonefleetApi extends ApiUnderTest {
  /** Reads a page of the list of domains. */
  listDomains(limit: number): Promise<void>;
  /** Adds this many domains of the same account. */
  addDomains(count: number): Promise<void>;
}

export async function startZonefleetApi(cpu: number | undefined): Promise<ZonefleetApi> {
  const databaseUrl = await zonefleetDatabase({ name: 'api', zones: [], records: 0 });
  await runOn(databaseUrl, 'update plans set max_records = null, max_domains = null');
  const key = generateKey();
  const { base, program } = await runZonefleetApi({ databaseUrl, key, cpu });
  const headers = { 'x-api-key': key };
  const records = (zone: string) => `${base}/domains/${zone}/records/`;
  return {
    label: 'Zonefleet',
    async load(zone, list) {
      await call(`${base}/domains/`, { headers, method: 'POST', body: { name: zone, scan: false } });
      const body = { records: list.map(asRecord) };
      const startedMs = performance.now();
      await call(`${records(zone)}import`, { headers, method: 'POST', body });
      return performance.now() - startedMs;
    },
    list: async (zone) => void (await call(records(zone), { headers })),
    exportZone: async (zone) => void (await call(`${records(zone)}export`, { headers })),
    search: async (zone, word) => void (await call(`${records(zone)}?search=${word}&limit=100`, { headers })),
    create: async (zone, record) =>
      void (await call(records(zone), { headers, method: 'POST', body: asRecord(record) })),
    repeated: (zone) => ({
      list: { url: records(zone), method: 'GET', headers },
      create: {
        url: records(zone),
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(asRecord({ name: WORD, type: 'A', content: '198.51.100.1' })),
      },
    }),
    listDomains: async (limit) => void (await call(`${base}/domains/?limit=${limit}`, { headers })),
    async addDomains(count) {
      await runOn(
        databaseUrl,
        'begin',
        `set local session_replication_role = 'replica'`,
        `with made as (
           insert into domains (account_id, name, unicode, dns_mode, status, served, serial, answers_generation, created_at, updated_at)
           select (select min(id) from accounts), 'n' || i || '.many.', 'n' || i || '.many', 'managed', 'pending', 'none', 1, 1, now(), now()
           from generate_series(1, ${count}) i returning id, account_id)
         insert into domain_checks (domain_id, account_id, deleted, parent) select id, account_id, false, 'many.' from made`,
        'commit',
        'vacuum (analyze) domains',
        'vacuum (analyze) domain_checks',
      );
    },
    stop: () => program.stop(),
  };
}

/** Starts the API with `key` as the key of a global admin. Resolves when it answers at `base`. */
export async function runZonefleetApi(options: {
  databaseUrl: string;
  key: string;
  cpu: number | undefined;
  env?: Readonly<Record<string, string>>;
}): Promise<{ base: string; program: Program }> {
  const { databaseUrl, key, cpu, env = {} } = options;
  const [port, metricsPort] = [await freePort(), await freePort()];
  const program = runProgram(fleetCommand('src/api/main.ts'), {
    cpu,
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      RUN_AS: 'off',
      DATABASE_URL: databaseUrl,
      API_LISTEN: `127.0.0.1:${port}`,
      METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
      BOOTSTRAP_API_KEY: key,
      API_RATE: 'off',
      ALLOW_RESERVED_NAMES: 'on',
      LOG_LEVEL: 'warn',
      ...env,
    },
  });
  let ended: number | string | undefined;
  void program.ended.then((code) => {
    ended = code;
  });
  const base = `http://127.0.0.1:${port}`;
  await untilAnswers(`${base}/domains/ns-sets`, { 'x-api-key': key }, () => {
    if (ended !== undefined) throw new Error(`the API ended with ${ended}:\n${program.output()}`);
  });
  return { base, program };
}

function asRecord({ name, type, content }: ZoneRecord) {
  return { name, type, destination: content };
}
