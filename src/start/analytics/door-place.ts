// Where the engine's socket lies: in its directory, or in one of its own where that path is too long for a socket.

import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProcessUser } from '../../process/run-as.ts';
import { StartFault } from '../../process/start-fault.ts';

const NAME = 'door';
/** Of the name of a socket (`sun_path`), with the octet that ends it. */
const MOST_OCTETS = process.platform === 'linux' ? 107 : 103;

interface DoorPlace {
  readonly socket: string;
  /** Removes what was made for it. */
  remove(): void;
}

/** `places`: where a directory may be made, the best first. */
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
    throw cannot(`no directory can be made for one: ${(error as Error).message}`);
  }
  return { socket: join(made, NAME), remove };
}

function fits(path: string): boolean {
  return Buffer.byteLength(path) <= MOST_OCTETS;
}
