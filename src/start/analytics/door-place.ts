// Location of the engine's socket: in its directory, or in a separate one if that path is too long for a socket.

import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProcessUser } from '../../process/run-as.ts';
import { StartFault } from '../../process/start-fault.ts';

const NAME = 'door';
/** Maximum length of a socket's path (`sun_path`), without the terminating octet. */
const MOST_OCTETS = process.platform === 'linux' ? 107 : 103;

interface DoorPlace {
  readonly socket: string;
  /** Removes the directory that was created for it. */
  remove(): void;
}

/** `places`: directories in which a directory may be created, in order of preference. */
export function openDoorPlace(
  directory: string,
  user: ProcessUser | undefined,
  places: readonly string[] = [tmpdir(), '/tmp'],
): DoorPlace {
  const own = join(directory, NAME);
  if (fits(own)) return { socket: own, remove: () => {} };
  const prefix = places.map((place) => join(place, 'zf-door-')).find((each) => fits(`${each}123456/${NAME}`));
  const cannot = (why: string) =>
    new StartFault(`DATA_DIR: ${own} is too long for a socket (${MOST_OCTETS} octets), and ${why}`);
  if (prefix === undefined) throw cannot(`so is every path in ${places.join(' and ')}`);
  let made: string | undefined;
  const remove = () => made !== undefined && rmSync(made, { recursive: true, force: true });
  try {
    made = mkdtempSync(prefix);
    chmodSync(made, 0o700);
    if (user !== undefined) chownSync(made, user.uid, user.gid);
  } catch (error) {
    remove();
    throw cannot(`cannot create a directory for it: ${(error as Error).message}`);
  }
  return { socket: join(made, NAME), remove };
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= MOST_OCTETS;
}
