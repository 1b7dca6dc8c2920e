// The TSIG key that signs the queries of `zone import`: one that is stored in the fleet, or one in a file. A secret is never
// an argument, because other users can see arguments.

import { readFileSync } from 'node:fs';
import { TextError } from '../../dns/errors.ts';
import type { TsigAlgorithm, TsigKey } from '../../dns/message/tsig.ts';
import { foldCase, parseName, ROOT } from '../../dns/name.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { KeySecret } from '../../store/secrets/key-boxes.ts';
import { openKey, TSIG_ALGORITHMS } from '../../store/transfers/keys.ts';
import { Failure } from '../terminal/failure.ts';
import { explainFileError } from '../terminal/find-zone-files.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';
import { readStandardInput } from '../terminal/read-standard-input.ts';

/** Returns a key of the operator. */
export async function storedKey(db: Database, secrets: readonly KeySecret[], name: string): Promise<TsigKey> {
  const key = await openKey(db, secrets, parseZoneName(name));
  if (key.kind === 'key') return key.key;
  throw new Failure('usage', `--key: "${name}" ${key.kind === 'absent' ? 'is not a key' : key.message}`);
}

/** Reads a key from a file, or from standard input for `-`. */
export async function readKeyFile(file: string): Promise<TsigKey> {
  let text: string;
  try {
    text = file === '-' ? await readStandardInput() : readFileSync(file, 'utf8');
  } catch (error) {
    throw new Failure('file', `${file}: ${explainFileError(error)}`);
  }
  const key = parseKey(text);
  if (typeof key === 'object') return key;
  throw new Failure('usage', `--key-file: ${key}`);
}

/**
 * Parses a key as BIND writes it (`key NAME { algorithm …; secret "…"; };`), or as `dig -y` takes it
 * (`ALGORITHM:NAME:SECRET`). Returns what is wrong as text.
 */
function parseKey(text: string): TsigKey | string {
  // Base64 may contain "//", but not after white space.
  const plain = text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)(\/\/|#).*$/gm, '').trim();
  const [, block, inside = ''] = /^key\s+("[^"]+"|[^\s{"]+)\s*\{([^}]*)\}\s*;?$/.exec(plain) ?? [];
  const [, word = '', line, secretWord = ''] = /^([\w-]+):([^\s:]+):([^\s:]+)$/.exec(plain) ?? [];
  const name = block?.replaceAll('"', '') ?? line;
  if (name === undefined)
    return 'expected key "NAME" { algorithm ALGORITHM; secret "BASE64"; }; or ALGORITHM:NAME:BASE64';
  const field = (of: string) =>
    new RegExp(`(?<=^|[\\s;])${of}\\s+"?([^\\s";]+)"?\\s*;`).exec(inside)?.[1] ?? '';
  const [algorithmText, secretText] =
    block === undefined ? [word, secretWord] : [field('algorithm'), field('secret')];
  const algorithm = TSIG_ALGORITHMS.find((each) => each === algorithmText.toLowerCase().replace(/\.$/, ''));
  if (algorithm === undefined)
    return `the algorithm is "${algorithmText}", not ${TSIG_ALGORITHMS.join(' or ')}`;
  const secret = Buffer.from(secretText, 'base64');
  if (secret.length === 0 || secret.toString('base64') !== secretText) return 'the secret is not base64';
  return keyOf(name, algorithm, secret);
}

function keyOf(text: string, algorithm: TsigAlgorithm, secret: Uint8Array): TsigKey | string {
  try {
    return { name: foldCase(parseName(text, ROOT)), algorithm, secret };
  } catch (error) {
    if (error instanceof TextError) return `the name: ${error.message}`;
    throw error;
  }
}
