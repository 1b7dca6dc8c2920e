// Who can connect to the embedded Postgres: those who know the password of a role. The superuser's is in a file that
// only the user who runs `npm start` can read; those of the processes are made anew at each start and known only to
// them.

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
  /** Parameters of the server. */
  readonly parameters: Record<string, string>;
}

export function makePassword(): string {
  return randomBytes(32).toString('hex');
}

/** Call it before the server starts. A cluster that was made before there were passwords gets one now. */
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

/** The file appears after the server has the password: a start that is cut off makes another one. */
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

/** Lets the group of the processes reach the socket, and only the owner list the directory. For root only. */
export function openToGroup(directory: string, gid: number): void {
  // Held open, so that nobody puts a link in its place between the calls.
  const fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    fchownSync(fd, -1, gid);
    fchmodSync(fd, 0o710);
  } finally {
    closeSync(fd);
  }
}
