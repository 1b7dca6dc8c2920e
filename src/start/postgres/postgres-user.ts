// Chooses the user that runs Postgres. Postgres refuses to run as root, so root uses `postgres` or `nobody`.

import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartFault } from '../../process/start-fault.ts';

/** Ids for spawn. Empty if Postgres runs as the current user. */
export interface PostgresUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** An existing cluster keeps its owner, even if a `postgres` user was added to the machine later. */
export function postgresUser(cluster: string): PostgresUser {
  if (process.getuid?.() !== 0) return {};
  const owner = statSync(cluster, { throwIfNoEntry: false });
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const fields = users.find((line) => line.startsWith(`${name}:`))?.split(':');
    if (fields !== undefined && Number(fields[2]) !== 0) {
      return { uid: Number(fields[2]) >>> 0, gid: Number(fields[3]) >>> 0 };
    }
  }
  throw new StartFault('Postgres does not run as root, and this machine has no user "postgres" or "nobody"');
}

/** Throws unless `user` can enter `directory`, which requires `x` on it and on all of its parents. */
export function checkEnterable(directory: string, user: PostgresUser): void {
  if (user.uid === undefined) return;
  for (let at = directory; ; at = dirname(at)) {
    const { mode, uid, gid } = statSync(at);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) {
      throw new StartFault(
        `Postgres runs as uid ${user.uid}, which cannot enter ${at}: set DATA_DIR to another directory`,
      );
    }
    if (dirname(at) === at) return;
  }
}
