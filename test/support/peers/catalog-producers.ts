// Knot and PowerDNS as producers of a catalog, on loopback. Their zones are replaced as a whole, as operators do.

import { writeFile } from 'node:fs/promises';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { queryFor } from '../answer/queries.ts';
import { runIn } from '../validators/run-program.ts';
import { startDaemon } from './daemon.ts';
import { askMany } from './peers.ts';
import type { TransferKey } from './transfer-peers.ts';

export const CATALOG = 'catz.example';
const LOCAL = '127.0.0.1';

export type ProducerName = 'knot' | 'powerdns';

export const PRODUCER_PROGRAMS: Readonly<Record<ProducerName, readonly string[]>> = {
  knot: ['knotd', 'knotc'],
  powerdns: ['pdns_server', 'pdnsutil', 'sqlite3', '/usr/share/doc/pdns-backend-sqlite3'],
};

export interface CatalogProducer {
  /** Makes the server have exactly these zones. Each has a TXT record `content` with its value. */
  setZones(contents: ReadonlyMap<string, string>): Promise<void>;
  stop(): Promise<void>;
}

interface ProducerStart {
  readonly port: number;
  readonly notified: number;
}

const zoneText = (content: string) =>
  `@ 300 SOA ns1 host 1 3600 60 604800 60\n@ 300 NS ns1\nns1 300 A 192.0.2.1\ncontent 300 TXT "${content}"\n`;

/** Returns true if the server replies. The catalog of Knot has no SOA until it has a member. */
async function replies(port: number): Promise<boolean> {
  const query = queryFor({ name: parseName(`${CATALOG}.`), type: TYPE.SOA, udpPayloadSize: 1232 });
  const [reply] = await askMany(port, [query], { address: LOCAL, tries: 1, timeoutMs: 300 });
  return reply !== undefined;
}

export async function startKnotProducer({
  port,
  notified,
  key,
}: ProducerStart & { readonly key: TransferKey }): Promise<CatalogProducer> {
  const daemon = await startDaemon({
    program: 'knotd',
    args: (directory) => ['-c', `${directory}/knot.conf`],
    isReady: () => replies(port),
    files: (directory) => ({
      'zones.conf': '',
      'knot.conf': `
server:
  listen: ${LOCAL}@${port}
  rundir: ${directory}
  udp-workers: 1
  tcp-workers: 1
  background-workers: 2
database:
  storage: ${directory}
log:
  - target: stderr
    any: warning
key:
  - id: ${key.name}
    algorithm: ${key.algorithm}
    secret: ${key.secret}
remote:
  - id: zonefleet
    address: ${LOCAL}@${notified}
    key: ${key.name}
acl:
  - id: to-zonefleet
    key: ${key.name}
    action: transfer
template:
  - id: default
    storage: ${directory}
    zonefile-load: whole
    zonefile-sync: -1
    notify: zonefleet
    acl: to-zonefleet
  - id: member
    storage: ${directory}/members
    zonefile-load: whole
    zonefile-sync: -1
    acl: to-zonefleet
    catalog-role: member
    catalog-zone: ${CATALOG}
zone:
  - domain: ${CATALOG}
    catalog-role: generate
    zonefile-load: none
    journal-content: all
include: ${directory}/zones.conf
`,
    }),
    prepare: async (directory) => void (await runIn(directory, 'mkdir', ['members'])),
  });
  const { directory } = daemon;
  return {
    async setZones(contents) {
      for (const [zone, content] of contents)
        await writeFile(`${directory}/members/${zone}.zone`, zoneText(content));
      const lines = [...contents.keys()].map((zone) => `  - domain: ${zone}\n    template: member\n`);
      await writeFile(`${directory}/zones.conf`, lines.length === 0 ? '' : `zone:\n${lines.join('')}`);
      await runIn(directory, 'knotc', ['-s', `${directory}/knot.sock`, 'reload']);
    },
    stop: daemon.stop,
  };
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

export async function startPowerDnsProducer({ port, notified }: ProducerStart): Promise<CatalogProducer> {
  const run = async (directory: string, statements: readonly string[]) => {
    await writeFile(`${directory}/batch.sql`, `begin immediate;\n${statements.join('\n')}\ncommit;\n`);
    await runIn(directory, 'sqlite3', ['-cmd', '.timeout 20000', 'pdns.db', '.read batch.sql']);
  };
  const records = (zone: string, rows: readonly (readonly [string, string, string])[]) =>
    rows.map(
      ([name, type, content]) => `insert into records (domain_id, name, type, content, ttl, auth)
        select id, ${quoted(name)}, ${quoted(type)}, ${quoted(content)}, 300, 1 from domains where name = ${quoted(zone)};`,
    );
  const daemon = await startDaemon({
    program: 'pdns_server',
    args: (directory) => [`--config-dir=${directory}`],
    isReady: () => replies(port),
    files: (directory) => ({
      'pdns.conf': `
launch=gsqlite3
gsqlite3-database=${directory}/pdns.db
local-address=${LOCAL}:${port}
socket-dir=${directory}
daemon=no
guardian=no
setuid=
setgid=
primary=yes
allow-axfr-ips=${LOCAL}
also-notify=${LOCAL}:${notified}
only-notify=
xfr-cycle-interval=1
query-cache-ttl=0
cache-ttl=0
negquery-cache-ttl=0
zone-cache-refresh-interval=0
`,
    }),
    prepare: async (directory) => {
      await runIn(directory, 'sqlite3', [
        'pdns.db',
        '.read /usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql',
      ]);
      await run(directory, [
        `insert into domains (name, type) values (${quoted(CATALOG)}, 'PRODUCER');`,
        ...records(CATALOG, [
          [CATALOG, 'SOA', 'invalid invalid 1 3600 60 604800 0'],
          [CATALOG, 'NS', 'invalid'],
        ]),
      ]);
    },
  });
  const { directory } = daemon;
  let present = new Map<string, string>();
  return {
    async setZones(contents) {
      const removed = [...present].filter(([zone, content]) => contents.get(zone) !== content);
      const added = [...contents].filter(([zone, content]) => present.get(zone) !== content);
      present = new Map(contents);
      await run(directory, [
        ...removed.flatMap(([zone]) => [
          `delete from records where domain_id = (select id from domains where name = ${quoted(zone)});`,
          `delete from domains where name = ${quoted(zone)};`,
        ]),
        ...added.flatMap(([zone, content]) => [
          `insert into domains (name, type, catalog) values (${quoted(zone)}, 'MASTER', ${quoted(CATALOG)});`,
          ...records(zone, [
            [zone, 'SOA', `ns1.${zone} host.${zone} 1 3600 60 604800 60`],
            [zone, 'NS', `ns1.${zone}`],
            [`ns1.${zone}`, 'A', '192.0.2.1'],
            [`content.${zone}`, 'TXT', `"${content}"`],
          ]),
        ]),
      ]);
    },
    stop: daemon.stop,
  };
}
