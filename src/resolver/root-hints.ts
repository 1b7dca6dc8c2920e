// The root's nameservers, from a file in the form of IANA's named.root: NS records of the root, and the addresses of those
// names. Where a lab has a root of its own, ROOT_HINTS names its file.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { TextError } from '../dns/errors.ts';
import { printIpv4, printIpv6 } from '../dns/ip-address.ts';
import { foldCase, type Name, printName, ROOT } from '../dns/name.ts';
import { parseZoneFile } from '../dns/parse-zone-file.ts';
import { rdataNames } from '../dns/rdata.ts';
import { TYPE, typeMnemonic } from '../dns/type-codes.ts';
import type { ZoneFileRecord } from '../dns/zone-file.ts';

export interface RootServer {
  /** Folded. */
  readonly name: Name;
  /** At least one. */
  readonly addresses: readonly string[];
}

const SHIPPED = fileURLToPath(new URL('./named.root', import.meta.url));
/** Hints have no need of TTLs. */
const DEFAULT_TTL_SECONDS = 3_600_000;

/** Throws an Error that names the file, and the line where there is one. Without a path, the shipped file. */
export async function loadRootHints(path: string = SHIPPED): Promise<RootServer[]> {
  const text = await readFile(path, 'utf8');
  try {
    return parseRootHints(text);
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    const place = error.line === undefined ? path : `${path}:${error.line}`;
    throw new Error(`${place}: ${error.message}`, { cause: error });
  }
}

/** Throws TextError, with a line where one is to blame. */
export function parseRootHints(text: string): RootServer[] {
  const { records, problems } = parseZoneFile(text, {
    origin: ROOT,
    defaultTtlSeconds: DEFAULT_TTL_SECONDS,
  });
  const [problem] = problems;
  if (problem !== undefined) throw new TextError(problem.message, problem);
  const servers = readServers(records);
  if (servers.size === 0) throw new TextError('there is no NS record of the root');
  readAddresses(records, servers);
  return [...servers].map(([name, { addresses, line }]) => {
    if (addresses.length === 0) throw new TextError(`${printName(name)} has no address`, { line });
    return { name, addresses };
  });
}

interface Server {
  readonly addresses: string[];
  /** Of its NS record. */
  readonly line: number;
}

function readServers(records: readonly ZoneFileRecord[]): Map<Name, Server> {
  const servers = new Map<Name, Server>();
  for (const { owner, type, rdata, line } of records) {
    if (type !== TYPE.NS) continue;
    if (owner !== ROOT)
      throw new TextError(`the NS record is not the root's but ${printName(owner)}'s`, { line });
    const [name] = rdataNames(type, rdata) as [Name];
    if (!servers.has(foldCase(name))) servers.set(foldCase(name), { addresses: [], line });
  }
  return servers;
}

function readAddresses(records: readonly ZoneFileRecord[], servers: ReadonlyMap<Name, Server>): void {
  for (const { owner, type, rdata, line } of records) {
    if (type === TYPE.NS) continue;
    if (type !== TYPE.A && type !== TYPE.AAAA) {
      throw new TextError(`root hints are NS, A and AAAA records, not ${typeMnemonic(type)}`, { line });
    }
    const server = servers.get(owner);
    if (server === undefined)
      throw new TextError(`${printName(owner)} is no nameserver of the root here`, { line });
    const address = type === TYPE.A ? printIpv4(rdata) : printIpv6(rdata);
    if (!server.addresses.includes(address)) server.addresses.push(address);
  }
}
