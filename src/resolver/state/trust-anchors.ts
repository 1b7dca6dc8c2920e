// Reads the root's trust anchors from a zone file of DS or DNSKEY records. A lab with its own root (ROOT_HINTS) has none
// unless TRUST_ANCHORS names its file, because the shipped ones do not match its root.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { dsOf } from '../../checks/validation/roll-anchors.ts';
import { usableDs } from '../../checks/validation/zone-keys.ts';
import { TextError } from '../../dns/errors.ts';
import { printName, ROOT } from '../../dns/name.ts';
import { TYPE, typeMnemonic } from '../../dns/type-codes.ts';
import { parseZoneFile } from '../../dns/zone-file/parse-zone-file.ts';
import type { ZoneFileRecord } from '../../dns/zone-file/zone-file.ts';

const SHIPPED = fileURLToPath(new URL('../root.anchors', import.meta.url));
/** Default TTL, because anchors need none. */
const DEFAULT_TTL_SECONDS = 86_400;

interface AnchorSettings {
  readonly trustAnchors?: { readonly path: string } | 'off' | undefined;
  readonly rootHints: string | undefined;
}

/** Returns the rdata of DS records. Throws an Error that names the file, and the line if there is one. */
export async function loadTrustAnchors({ trustAnchors, rootHints }: AnchorSettings): Promise<Uint8Array[]> {
  if (trustAnchors === 'off' || (trustAnchors === undefined && rootHints !== undefined)) return [];
  const path = trustAnchors?.path ?? SHIPPED;
  const text = await readFile(path, 'utf8');
  try {
    return parseTrustAnchors(text);
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    const place = error.line === undefined ? path : `${path}:${error.line}`;
    throw new Error(`${place}: ${error.message}`, { cause: error });
  }
}

function parseTrustAnchors(text: string): Uint8Array[] {
  const { records, problems } = parseZoneFile(text, { origin: ROOT, defaultTtlSeconds: DEFAULT_TTL_SECONDS });
  const [problem] = problems;
  if (problem !== undefined) throw new TextError(problem.message, problem);
  const anchors = records.map(readAnchor);
  if (anchors.length === 0) throw new TextError('there is no DS or DNSKEY record of the root');
  if (usableDs(anchors).length === 0)
    throw new TextError('none of these records has a supported algorithm and digest');
  return anchors;
}

function readAnchor({ owner, type, rdata, line }: ZoneFileRecord): Uint8Array {
  if (owner !== ROOT) {
    throw new TextError(`a trust anchor must be for the root, not for ${printName(owner)}`, { line });
  }
  if (type === TYPE.DS) return rdata;
  if (type !== TYPE.DNSKEY) {
    throw new TextError(`trust anchors must be DS or DNSKEY records, not ${typeMnemonic(type)}`, { line });
  }
  return dsOf(rdata);
}
