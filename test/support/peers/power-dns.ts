// PowerDNS with zones in files, some of which it signs itself.

import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { queryFor } from '../answer/queries.ts';
import { runIn } from '../validators/run-program.ts';
import { startDaemon } from './daemon.ts';
import { askMany, type PeerAddress, type ZoneText } from './peers.ts';

export interface PowerDns {
  /** For `--config-dir` of pdnsutil. */
  readonly directory: string;
  pdnsutil(...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

interface PowerDnsStart {
  readonly zones: readonly ZoneText[];
  /** Apexes without the trailing dot. Each zone gets one key. */
  readonly signed: readonly string[];
  readonly listen: readonly PeerAddress[];
}

/** Resolves when the server answers for the last zone. */
export async function startPowerDns({ zones, signed, listen }: PowerDnsStart): Promise<PowerDns> {
  const directory = await mkdtemp(join(tmpdir(), 'zonefleet-powerdns-'));
  await chmod(directory, 0o755);
  const config = [
    'launch=bind',
    `bind-config=${directory}/named.conf`,
    `bind-dnssec-db=${directory}/dnssec.db`,
    `local-address=${listen.map(({ address, port }) => `${address}:${port}`).join(',')}`,
    `socket-dir=${directory}`,
    'daemon=no',
    'guardian=no',
    'setuid=',
    'setgid=',
  ];
  await writeFile(join(directory, 'pdns.conf'), `${config.join('\n')}\n`);
  const clauses: string[] = [];
  for (const [i, { apex, text }] of zones.entries()) {
    await writeFile(join(directory, `${i}.zone`), `$ORIGIN ${apex}\n${text}\n`);
    clauses.push(`zone "${apex.slice(0, -1)}" { type master; file "${directory}/${i}.zone"; };\n`);
  }
  await writeFile(join(directory, 'named.conf'), clauses.join(''));
  const pdnsutil = (...args: string[]) =>
    runIn(directory, 'pdnsutil', [`--config-dir=${directory}`, ...args]);
  await pdnsutil('create-bind-db', `${directory}/dnssec.db`);
  if (signed.length > 0) await pdnsutil('secure-zone', ...signed);
  const { apex } = zones.at(-1) as ZoneText;
  const type = signed.includes(apex.slice(0, -1)) ? TYPE.DNSKEY : TYPE.SOA;
  const query = queryFor({ name: parseName(apex), type, udpPayloadSize: 1232 });
  const { address, port } = listen.at(-1) as PeerAddress;
  const daemon = await startDaemon({
    program: 'pdns_server',
    files: () => ({}),
    args: () => [`--config-dir=${directory}`],
    isReady: async () => {
      const [reply] = await askMany(port, [query], { address, tries: 1, timeoutMs: 300 });
      return reply !== undefined && Buffer.from(reply).readUInt16BE(6) > 0; // RFC 1035 §4.1.1: ANCOUNT
    },
  });
  return {
    directory,
    pdnsutil,
    async stop() {
      await daemon.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Returns the rdata of the DS with SHA-256 that pdnsutil prints. */
export async function dsOfPowerDns({ pdnsutil }: PowerDns, zone: string): Promise<string> {
  const [, ds] = / DS (\d+ \d+ 2 [0-9a-f]+)/.exec(await pdnsutil('export-zone-ds', zone)) ?? [];
  if (ds === undefined) throw new Error(`${zone} has no DS`);
  return ds;
}
