// dnsrecon as in its manual, for one zone: the standard enumeration and its own list of names, with a resolver on port 53.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameInRdata, printName } from '../../src/dns/name.ts';
import { printRdata } from '../../src/dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../src/dns/type-codes.ts';
import type { ZoneRecord } from '../../src/zone/zone.ts';
import type { CorpusZone } from '../../test/support/corpus/scan-corpus.ts';
import { childSeconds } from '../checks/dig-trace.ts';
import type { BenchOptions } from '../part.ts';
import { runProgram } from '../program.ts';
import { versionOf } from '../servers/installed.ts';

export interface DnsreconRun {
  readonly keys: ReadonlySet<string>;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

const THREADS = 32;
/** Default list of names if dnsrecon is installed from source. */
const WORDS = '/usr/share/dnsrecon/namelist.txt';

export const dnsreconVersion = () => versionOf(['dnsrecon', '-V'], /version (\S+)/);

/**
 * Uses `-f` only if the zone has a wildcard at its apex: it drops names with the wildcard's address and, without a
 * wildcard, all addresses.
 */
export async function runDnsrecon(
  zone: CorpusZone,
  server: string,
  options: BenchOptions,
): Promise<DnsreconRun> {
  const file = join(options.directory, 'dnsrecon.json');
  const domain = zone.domain.slice(0, -1);
  const apexWildcard = `*.${zone.domain}`;
  const filter = zone.records.some(({ owner }) => printName(owner) === apexWildcard) ? '-f' : '';
  const resolvConf = join(options.directory, 'resolv.conf'); // for DNSKEY it asks the machine's own resolver
  writeFileSync(resolvConf, `nameserver ${server}\n`);
  const dnsrecon =
    `dnsrecon -d ${domain} -n ${server} -t std,brt -D ${WORDS} ${filter} --iw --threads ${THREADS} -j ${file} ` +
    '--disable_check_recursion --disable_check_bindversion'; // these would query the invented addresses
  const script =
    `mount --bind ${resolvConf} /etc/resolv.conf && rm -f ${file}; ` +
    `${dnsrecon} </dev/null >/dev/null; cat /proc/$$/stat >&2`;
  const startedMs = performance.now();
  const program = runProgram(['unshare', '--mount', 'bash', '-c', script], { cpu: options.serverCpu });
  await program.ended;
  const seconds = (performance.now() - startedMs) / 1000;
  const found = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, string>>[];
  return { keys: keysOf(found, domain), seconds, cpuSeconds: childSeconds(program.output()) };
}

/** Returns the key of a record without TTL, preference and weight, which dnsrecon does not report. */
export function simpleKey({ owner, type, rdata }: ZoneRecord): string {
  const head = `${printName(owner)} ${typeMnemonic(type)}`;
  switch (type) {
    case TYPE.CNAME:
    case TYPE.NS:
      return `${head} ${targetText(rdata, 0)}`;
    case TYPE.MX:
      return `${head} ${targetText(rdata, 2)}`;
    case TYPE.SRV:
      return `${head} ${targetText(rdata, 6)} ${Buffer.from(rdata).readUInt16BE(4)}`;
    case TYPE.TXT:
      return `${head} ${textOf(rdata)}`;
    default:
      return `${head} ${printRdata(type, rdata)}`;
  }
}

function keysOf(found: readonly Readonly<Record<string, string>>[], domain: string): ReadonlySet<string> {
  const keys = new Set<string>();
  const add = (name: string | undefined, type: string, value: string | undefined) => {
    const folded = name?.toLowerCase();
    if (folded !== domain && !folded?.endsWith(`.${domain}`)) return; // names outside the domain that aliases lead to
    keys.add(`${folded}. ${type} ${value}`);
  };
  const addAddress = (name: string | undefined, address: string | undefined) => {
    if (address !== undefined) add(name, address.includes(':') ? 'AAAA' : 'A', address);
  };
  for (const { type, name, target, address, exchange, strings, port, domain: of } of found) {
    const dotted = (text: string | undefined) => `${text?.toLowerCase()}.`;
    if (type === 'A' || type === 'AAAA') addAddress(name ?? of, address);
    if (type === 'CNAME') add(name, type, dotted(target));
    if (type === 'TXT') add(name, type, strings);
    if (type === 'NS') add(of, type, dotted(target));
    if (type === 'MX') add(of, type, dotted(exchange));
    if (type === 'SRV') add(name, type, `${dotted(target)} ${port}`);
    if (type === 'NS' || type === 'SRV') addAddress(target, address);
    if (type === 'MX') addAddress(exchange, address);
  }
  return keys;
}

function targetText(rdata: Uint8Array, from: number): string {
  return printName(nameInRdata(rdata, from)).toLowerCase();
}

function textOf(rdata: Uint8Array): string {
  const octets = Buffer.from(rdata);
  let text = '';
  for (let at = 0; at < octets.length; at += 1 + (octets[at] as number)) {
    text += octets.toString('latin1', at + 1, at + 1 + (octets[at] as number));
  }
  return text;
}
