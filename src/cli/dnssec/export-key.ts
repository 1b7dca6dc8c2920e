// Prints the private keys of a zone, or writes them to files that only their owner can read.

import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type Name, printName } from '../../dns/name.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { exportPrivateKeys, exportZoneKeys, type PrivateKey } from '../../store/dnssec/private-keys.ts';
import type { Database } from '../../store/postgres/database.ts';
import { findSubject, listSigning } from '../../store/signing/load-signing.ts';
import { type KeyFormat, printPrivateKey } from '../../zone/signing/private-key.ts';
import type { Cli } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
import { explainFileError } from '../terminal/find-zone-files.ts';
import { NOT_THERE, orSettings, type Refused, refuse } from './import-key.ts';

export interface ExportOptions {
  readonly key?: number;
  readonly format: KeyFormat;
  readonly directory?: string;
}

interface ExportOrder extends Omit<ExportOptions, 'directory'> {
  /** True if only one key can be printed: several keys in one text cannot be told apart. */
  readonly isSingle: boolean;
}

export async function exportKeys(
  db: Database,
  name: Name,
  { directory, ...options }: ExportOptions,
  cli: Cli,
): Promise<number> {
  const { output } = cli;
  const { format } = options;
  const isSingle = directory === undefined && !output.json;
  const found = await orSettings(() => loadKeys(db, name, { ...options, isSingle }, cli));
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
      JSON.stringify({ zone: printName(name), keys: keys.map((key) => keyJson(key, format)) }),
    );
    return 0;
  }
  for (const { dnskey, secret } of keys) await output.write(printPrivateKey(dnskey, secret, format));
  return 0;
}

/** Writes a row of the audit log, so that nothing is printed without one. */
async function loadKeys(
  db: Database,
  name: Name,
  { key: keyId, format, isSingle }: ExportOrder,
  cli: Cli,
): Promise<{ readonly keys: readonly PrivateKey[] } | Refused> {
  const subject = await findSubject(db, name);
  if (subject === undefined) return NOT_THERE;
  if (!('domainId' in subject)) {
    const [zone] = await listSigning(db, [name]);
    return await cli.audited(db, 'zone.export_keys', async (trx, tell) => {
      const keys = zone === undefined ? [] : await exportZoneKeys(trx, zone.id, keyId);
      const refused = refuseCount(keys, isSingle);
      if (refused !== undefined) return refused;
      tell({ target: { name: printName(name) }, after: { key_tags: keys.map(({ tag }) => tag), format } });
      return { keys };
    });
  }
  const { domainId } = subject;
  return await cli.audited(db, 'domain.export_keys', async (trx, tell) => {
    const exported = await exportPrivateKeys(trx, { ...cli.changedBy(), domainId, keyId });
    if (exported.kind === 'absent') return NOT_THERE;
    if (exported.kind === 'refused') return { code: exported.code, refused: exported.message };
    const { keys } = exported;
    const refused = refuseCount(keys, isSingle);
    if (refused !== undefined) return refused;
    tell({
      domainId,
      target: { id: domainId, name: printName(name) },
      after: { key_tags: keys.map(({ tag }) => tag), format },
    });
    return { keys };
  });
}

function refuseCount({ length }: readonly PrivateKey[], isSingle: boolean): Refused | undefined {
  if (length === 0)
    return { code: 'wrong_state', refused: 'it has no such key whose private part is stored' };
  if (length === 1 || !isSingle) return undefined;
  return { code: 'wrong_state', refused: `it has ${length} keys: give --key, --directory or --json` };
}

function keyJson({ id, role, tag, dnskey, secret }: PrivateKey, format: KeyFormat): object {
  return {
    id,
    role,
    key_tag: tag,
    algorithm: dnskey[3],
    dnskey: printRdata(TYPE.DNSKEY, dnskey),
    private_key: printPrivateKey(dnskey, secret, format),
  };
}

const ONLY_OWNER = 0o600;

/** Returns the paths. Does not replace existing files. */
async function writeKeys(
  directory: string,
  name: Name,
  keys: readonly PrivateKey[],
  format: KeyFormat,
): Promise<string[]> {
  const paths: string[] = [];
  const write = async (file: string, text: string) => {
    const path = join(directory, file);
    try {
      const handle = await open(path, 'wx', ONLY_OWNER);
      await handle.writeFile(text);
      await handle.close();
    } catch (error) {
      throw new Failure('file', `${path}: ${explainFileError(error)}`, { cause: error });
    }
    paths.push(path);
  };
  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const { tag, dnskey, secret } of keys) {
    const number = String(dnskey[3]).padStart(3, '0');
    // a label may have a slash (RFC 2317)
    const base = `K${printName(name).replaceAll('/', '%2F')}+${number}+${String(tag).padStart(5, '0')}`;
    await write(`${base}.${format === 'pem' ? 'pem' : 'private'}`, printPrivateKey(dnskey, secret, format));
    await write(`${base}.key`, `${printName(name)} IN DNSKEY ${printRdata(TYPE.DNSKEY, dnskey)}\n`);
  }
  return paths;
}
