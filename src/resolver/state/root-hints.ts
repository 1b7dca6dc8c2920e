// Reads the root's nameservers from a file in the format of IANA's named.root: NS records of the root, and the addresses of
// those names. A lab with its own root sets ROOT_HINTS to its file.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { TextError } from '../../dns/errors.ts';
import { foldCase, type Name, printName, ROOT } from '../../dns/name.ts';
import { printAddress } from '../../dns/record/ip-address.ts';
import { rdataNames } from '../../dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../dns/type-codes.ts';
import { parseZoneFile } from '../../dns/zone-file/parse-zone-file.ts';
import type { ZoneFileRecord } from '../../dns/zone-file/zone-file.ts';

export interface RootServer {
  /** Folded name. */
  readonly name: Name;
  /** At least one address. */
  readonly addresses: readonly string[];
}

const SHIPPED = fileURLToPath(new URL('../named.root', import.meta.url));
/** Default TTL, because hints need none. */
const DEFAULT_TTL_SECONDS = 3_600_000;

/** Throws an Error that names the file, and the line if there is one. Without a path, reads the shipped file. */
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

/** Throws TextError, with the line number if a line is at fault. */
function parseRootHints(text: string): RootServer[] {
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
  /** Line of its NS record. */
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
      throw new TextError(`root hints must be NS, A or AAAA records, not ${typeMnemonic(type)}`, { line });
    }
    const server = servers.get(owner);
    if (server === undefined)
      throw new TextError(`${printName(owner)} is not a nameserver of the root in this file`, { line });
    const address = printAddress(rdata);
    if (!server.addresses.includes(address)) server.addresses.push(address);
  }
}
