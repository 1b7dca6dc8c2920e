// PowerDNS's HTTP API with its Postgres backend.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/processes/free-port.ts';
import { benchCluster } from '../postgres/cluster.ts';
import { powerdnsDatabase } from '../postgres/powerdns-database.ts';
import { runProgram } from '../program.ts';
import { makeDirectory } from '../servers/server.ts';
import { type ApiUnderTest, call, untilAnswers, WORD, type ZoneRecord } from './api-under-test.ts';

const KEY = 'bench';

export async function startPowerdnsApi(cpu: number | undefined): Promise<ApiUnderTest> {
  const database = await powerdnsDatabase({ name: 'api', zones: [], records: 0 });
  const { socketDirectory } = await benchCluster();
  const directory = makeDirectory('powerdns-api');
  const [port, webPort] = [await freePort(), await freePort()];
  const lines = [
    'launch=gpgsql',
    `gpgsql-host=${socketDirectory}`,
    'gpgsql-port=5432',
    'gpgsql-user=zonefleet',
    `gpgsql-dbname=${database}`,
    'gpgsql-dnssec=no',
    'local-address=127.0.0.1',
    `local-port=${port}`,
    `socket-dir=${directory.path}/run`,
    'api=yes',
    `api-key=${KEY}`,
    'webserver=yes',
    'webserver-address=127.0.0.1',
    `webserver-port=${webPort}`,
    'webserver-max-bodysize=64',
    'security-poll-suffix=',
    'loglevel=3',
  ];
  writeFileSync(join(directory.path, 'pdns.conf'), `${lines.join('\n')}\n`);
  const program = runProgram(
    ['pdns_server', `--config-dir=${directory.path}`, '--daemon=no', '--guardian=no', '--disable-syslog'],
    { cpu },
  );
  let ended: number | string | undefined;
  void program.ended.then((code) => {
    ended = code;
  });
  const base = `http://127.0.0.1:${webPort}/api/v1/servers/localhost`;
  const headers = { 'x-api-key': KEY };
  await untilAnswers(base, headers, () => {
    if (ended !== undefined) throw new Error(`PowerDNS ended with ${ended}:\n${program.output()}`);
  });
  const zoneUrl = (zone: string) => `${base}/zones/${zone}.`;
  return {
    label: 'PowerDNS, Postgres',
    async load(zone, records) {
      const body = {
        name: `${zone}.`,
        kind: 'Native',
        nameservers: [],
        rrsets: records.map((r) => rrset(zone, r)),
      };
      const startedMs = performance.now();
      await call(`${base}/zones`, { headers, method: 'POST', body });
      return performance.now() - startedMs;
    },
    list: async (zone) => void (await call(zoneUrl(zone), { headers })),
    exportZone: async (zone) => void (await call(`${zoneUrl(zone)}/export`, { headers })),
    async search(_zone, word) {
      await call(`${base}/search-data?q=*${word}*&max=100&object_type=record`, { headers });
    },
    async create(zone, record) {
      await call(zoneUrl(zone), { headers, method: 'PATCH', body: replacing(zone, record) });
    },
    repeated: (zone) => ({
      list: { url: zoneUrl(zone), method: 'GET', headers },
      create: {
        url: zoneUrl(zone),
        method: 'PATCH',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(replacing(zone, { name: WORD, type: 'A', content: '198.51.100.1' })),
      },
    }),
    async stop() {
      await program.stop();
      await directory.remove();
    },
  };
}

function replacing(zone: string, record: ZoneRecord) {
  return { rrsets: [{ ...rrset(zone, record), changetype: 'REPLACE' }] };
}

function rrset(zone: string, { name, type, content }: ZoneRecord) {
  const text = type === 'TXT' ? `"${content}"` : type === 'CNAME' ? `${content}.` : content;
  return { name: `${name}.${zone}.`, type, ttl: 300, records: [{ content: text, disabled: false }] };
}
