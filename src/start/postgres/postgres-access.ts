// Access to the embedded Postgres requires the password of a role. The superuser's password is in a file that only the user
// of `npm start` can read. The processes' passwords are new at each start, and only they know them.

import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { scramVerifier } from '../../store/roles/roles.ts';
import { runSingleUser, SUPERUSER } from './postgres-cluster.ts';
import type { PostgresUser } from './postgres-user.ts';

interface LockedAccess {
  readonly password: string;
  /** Server parameters. */
  readonly parameters: Record<string, string>;
}

export function makePassword(): string {
  return randomBytes(32).toString('hex');
}

/** Call this before the server starts. A cluster from before there were passwords gets one now. */
export async function lockAccess(place: {
  readonly directory: string;
  readonly cluster: string;
  readonly bin: string;
  readonly user: PostgresUser;
}): Promise<LockedAccess> {
  const hba = join(place.directory, 'hba.conf');
  writeFileSync(hba, 'local all all scram-sha-256\n', { mode: 0o644 });
  return { password: await superuserPassword(place), parameters: { hba_file: hba } };
}

/** Writes the file after the server has the password, so that an interrupted start creates another one. */
async function superuserPassword(place: {
  readonly directory: string;
  readonly cluster: string;
  readonly bin: string;
  readonly user: PostgresUser;
}): Promise<string> {
  const file = join(place.directory, 'superuser');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const password = makePassword();
  const statement = `ALTER ROLE ${SUPERUSER} PASSWORD '${scramVerifier(password)}';\n`;
  await runSingleUser(place.bin, place.cluster, place.user, statement);
  writeFileSync(`${file}.part`, `${password}\n`, { mode: 0o600 });
  renameSync(`${file}.part`, file);
  return password;
}

/** Lets the processes' group access the socket, while only the owner can list the directory. Only for root. */
export function openToGroup(directory: string, gid: number): void {
  // Kept open, so that it cannot be replaced with a link between the calls.
  const fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    fchownSync(fd, -1, gid);
    fchmodSync(fd, 0o710);
  } finally {
    closeSync(fd);
  }
}
