// PowerDNS with its Postgres backend and one receiver. Its caches outlive the run, so repeated queries are answered from
// them. It leaves rate limits to other programs.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/processes/free-port.ts';
import { benchCluster } from '../postgres/cluster.ts';
import { powerdnsDatabase, powerdnsSchema } from '../postgres/powerdns-database.ts';
import { versionOf } from './installed.ts';
import { launch, makeDirectory, type Server } from './server.ts';

export const powerdns: Server = {
  name: 'powerdns',
  title: 'PowerDNS, Postgres',
  version: () =>
    powerdnsSchema() === undefined ? undefined : versionOf(['pdns_server', '--version'], /Server (\d\S+)/),
  async start(options) {
    const database = await powerdnsDatabase(options.set);
    const { socketDirectory } = await benchCluster();
    const directory = makeDirectory('powerdns');
    const port = await freePort();
    const lines = [
      'launch=gpgsql',
      `gpgsql-host=${socketDirectory}`,
      'gpgsql-port=5432',
      'gpgsql-user=zonefleet',
      `gpgsql-dbname=${database}`,
      'gpgsql-dnssec=no',
      `local-address=${options.address}`,
      `local-port=${port}`,
      `socket-dir=${directory.path}/run`,
      'receiver-threads=1',
      'distributor-threads=1',
      'reuseport=no',
      'cache-ttl=3600',
      'query-cache-ttl=3600',
      'negquery-cache-ttl=3600',
      'max-cache-entries=4000000',
      'max-packet-cache-entries=4000000',
      'max-tcp-connections=200',
      'udp-truncation-threshold=1232',
      'edns-cookie-secret=000102030405060708090a0b0c0d0e0f',
      'security-poll-suffix=',
      'loglevel=3',
    ];
    const file = join(directory.path, 'pdns.conf');
    writeFileSync(file, `${lines.join('\n')}\n`);
    return launch(
      'powerdns',
      ['pdns_server', `--config-dir=${directory.path}`, '--daemon=no', '--guardian=no', '--disable-syslog'],
      { ...options, port, onStop: directory.remove },
    );
  },
};
