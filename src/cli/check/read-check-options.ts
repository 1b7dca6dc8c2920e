// Parses the options of `zonefleet check`: the nameservers to test, and a profile.

import { readFile } from 'node:fs/promises';
import { type ChildProfile, DEFAULT_PROFILE, readProfile } from '../../checks/child/profile.ts';
import { TextError } from '../../dns/errors.ts';
import type { Name } from '../../dns/name.ts';
import { parseAddress, printAddress } from '../../dns/record/ip-address.ts';
import { Failure } from '../terminal/failure.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';

export interface GivenServers {
  readonly ns: readonly Name[];
  readonly glue: readonly { readonly name: Name; readonly address: string }[];
}

/** Parses texts such as `ns1.example.com/192.0.2.1`. The addresses of a name without an address are looked up. */
export function readGivenServers(texts: readonly string[]): GivenServers {
  const ns = new Set<Name>();
  const glue: { name: Name; address: string }[] = [];
  for (const text of texts) {
    const [nameText = '', ...rest] = text.split('/');
    const name = parseZoneName(nameText);
    ns.add(name);
    if (rest.length > 0) glue.push({ name, address: readAddress(rest.join('/'), text) });
  }
  return { ns: [...ns], glue };
}

function readAddress(address: string, text: string): string {
  try {
    return printAddress(parseAddress(address));
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    throw new Failure('usage', `--ns ${text}: ${error.message}`);
  }
}

export async function readProfileFile(path: string | undefined): Promise<ChildProfile> {
  if (path === undefined) return DEFAULT_PROFILE;
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new Failure('file', `--profile ${path}: ${(error as Error).message}`, { cause: error });
  }
  const read = readProfile(text);
  if (read.kind === 'problem') throw new Failure('usage', `--profile ${path}: ${read.message}`);
  return read.profile;
}
