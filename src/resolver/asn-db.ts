// Loads the file that maps prefixes to autonomous systems.

import { readFile } from 'node:fs/promises';
import type { AsnOf } from '../checks/child/observation.ts';
import { readAsnDb } from '../checks/child/read-asn-db.ts';
import { StartFault } from '../process/start-fault.ts';

/** Returns undefined if no file is configured. Throws StartFault. */
export async function openAsnDb(path: string | undefined): Promise<AsnOf | undefined> {
  if (path === undefined) return undefined;
  try {
    return readAsnDb(await readFile(path, 'utf8'));
  } catch (error) {
    throw new StartFault(`ASN_DB: ${path} cannot be read: ${(error as Error).message}`);
  }
}
