// Prints the private keys of a zone, or writes them to files that only their owner can read.

import { accessSync, constants, lstatSync, mkdirSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Name, printName } from '../../dns/name.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { TYPE } from '../../dns/type-codes.ts';
import {
  exportPrivateKeys,
  exportZoneKeys,
  type PrivateKey,
  type PublicPart,
} from '../../store/dnssec/private-keys.ts';
import type { Database } from '../../store/postgres/database.ts';
import { findSubject, listSigning } from '../../store/signing/load-signing.ts';
import { describeKey, type KeyFormat, printPrivateKey } from '../../zone/signing/private-key.ts';
import type { Cli } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
import { explainFileError } from '../terminal/find-zone-files.ts';
import { NOT_THERE, orSettings, type Refused, refuse } from './import-key.ts';

export interface ExportOptions {
  readonly key?: number;
  readonly format: KeyFormat;
  readonly directory?: string;
}

export async function exportKeys(
  db: Database,
  name: Name,
  options: ExportOptions,
  cli: Cli,
): Promise<number> {
  const { output } = cli;
  const { format, directory } = options;
  const found = await orSettings(() => loadKeys(db, name, options, cli));
  if ('refused' in found) return await refuse(name, found, output);
  const { keys } = found;
  if (directory !== undefined) {
    const written = await writeKeys(directory, name, keys, format);
    if (output.json) await output.print(JSON.stringify({ zone: printName(name), files: written }));
    else for (const path of written) await output.print(path);
    return 0;
  }
  if (output.json) {
    await output.print(
      JSON.stringify({ zone: printName(name), keys: keys.map((key) => describeKey(key, format)) }),
    );
    return 0;
  }
  for (const { dnskey, secret } of keys) await output.write(printPrivateKey(dnskey, secret, format));
  return 0;
}

/** Loads the keys and writes the audit log, so that nothing is printed without a log entry. */
async function loadKeys(
  db: Database,
  name: Name,
  { key: keyId, format, directory }: ExportOptions,
  cli: Cli,
): Promise<{ readonly keys: readonly PrivateKey[] } | Refused> {
  const subject = await findSubject(db, name);
  if (subject === undefined) return NOT_THERE;
  const isSingle = directory === undefined && !cli.output.json;
  const refusalOf = (keys: readonly PublicPart[]) => {
    const refused = refuseCount(keys, isSingle);
    if (refused === undefined && directory !== undefined) prepareFiles(directory, name, keys, format);
    return refused;
  };
  if (!('domainId' in subject)) {
    const [zone] = await listSigning(db, [name]);
    return await cli.audited(db, 'zone.export_keys', async (trx, tell) => {
      const keys = zone === undefined ? [] : await exportZoneKeys(trx, zone.id, keyId);
      const refused = refusalOf(keys);
      if (refused !== undefined) return { code: 'wrong_state', refused };
      tell({ target: { name: printName(name) }, after: { key_tags: keys.map(({ tag }) => tag), format } });
      return { keys };
    });
  }
  const { domainId } = subject;
  return await cli.audited(db, 'domain.export_keys', async (trx, tell) => {
    const order = { ...cli.changedBy(), domainId, keyId, refuse: refusalOf };
    const exported = await exportPrivateKeys(trx, order);
    if (exported.kind === 'absent') return NOT_THERE;
    if (exported.kind === 'refused') return { code: exported.code, refused: exported.message };
    const { keys } = exported;
    tell({
      domainId,
      target: { id: domainId, name: printName(name) },
      after: { key_tags: keys.map(({ tag }) => tag), format },
    });
    return { keys };
  });
}

function refuseCount({ length }: readonly PublicPart[], isSingle: boolean): string | undefined {
  if (length === 0) return 'no private key is stored for it, or not this one';
  // without a separator, several keys in one text are ambiguous
  return length > 1 && isSingle ? `it has ${length} keys: give --key, --directory or --json` : undefined;
}

const ONLY_OWNER = 0o600;

/** Creates the directory, but not its parents. Throws Failure if the file of a key exists or cannot be written. */
function prepareFiles(directory: string, name: Name, keys: readonly PublicPart[], format: KeyFormat): void {
  try {
    const found = statSync(directory, { throwIfNoEntry: false });
    if (found === undefined) mkdirSync(directory, { mode: 0o700 });
    else if (!found.isDirectory()) throw new Failure('file', `${directory}: not a directory`);
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure('file', `${directory}: ${explainFileError(error)}`, { cause: error });
  }
  for (const path of keys.flatMap((key) => Object.values(pathsOf(directory, name, key, format))))
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined)
      throw new Failure('file', `${path}: the file already exists and is not overwritten`);
}

function pathsOf(directory: string, name: Name, { tag, dnskey }: PublicPart, format: KeyFormat) {
  const number = String(dnskey[3]).padStart(3, '0');
  // a label may have a slash (RFC 2317)
  const base = `K${printName(name).replaceAll('/', '%2F')}+${number}+${String(tag).padStart(5, '0')}`;
  return {
    privatePath: join(directory, `${base}.${format === 'pem' ? 'pem' : 'private'}`),
    publicPath: join(directory, `${base}.key`),
  };
}

/** Writes the files without replacing existing ones, and returns their paths. */
async function writeKeys(
  directory: string,
  name: Name,
  keys: readonly PrivateKey[],
  format: KeyFormat,
): Promise<string[]> {
  const paths: string[] = [];
  const write = async (path: string, text: string) => {
    try {
      await writeFile(path, text, { flag: 'wx', mode: ONLY_OWNER });
    } catch (error) {
      throw new Failure('file', `${path}: ${explainFileError(error)}`, { cause: error });
    }
    paths.push(path);
  };
  for (const key of keys) {
    const { privatePath, publicPath } = pathsOf(directory, name, key, format);
    await write(privatePath, printPrivateKey(key.dnskey, key.secret, format));
    await write(publicPath, `${printName(name)} IN DNSKEY ${printRdata(TYPE.DNSKEY, key.dnskey)}\n`);
  }
  return paths;
}
