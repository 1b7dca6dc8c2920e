// Which user Postgres runs as. It refuses to run as root, so root drops to `postgres` or `nobody`.

import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StartFault } from '../../process/start-fault.ts';

/** The ids to give to spawn; empty when Postgres runs as the user that we are. */
export interface PostgresUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** A cluster that exists keeps its owner, also when a `postgres` user has been added to the machine since. */
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
  throw new StartFault(
    'Postgres does not run as root, and there is no user "postgres" or "nobody" to run it as',
  );
}

/** Throws unless `user` can reach `directory`, which needs `x` for it on the directory and all that enclose it. */
export function checkEnterable(directory: string, user: PostgresUser): void {
  if (user.uid === undefined) return;
  for (let at = directory; ; at = dirname(at)) {
    const { mode, uid, gid } = statSync(at);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) {
      throw new StartFault(
        `Postgres runs as uid ${user.uid} here, which cannot enter ${at}: put its directory elsewhere`,
      );
    }
    if (dirname(at) === at) return;
  }
}
