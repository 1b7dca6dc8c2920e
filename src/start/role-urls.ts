// Each process connects as a database role of its own. Those of the embedded Postgres get new passwords at each start, which are
// in the memory of `npm start` and in the environment of the one process that uses each; the owner's is for the command line.

import type { ProcessName } from '../process/settings/setting.ts';
import type { Database } from '../store/postgres/database.ts';
import { OWNER_ROLE, PROCESS_ROLES, type ProcessRole } from '../store/roles/role-privileges.ts';
import { setRolePasswords } from '../store/roles/roles.ts';
import { makePassword } from './postgres/postgres-access.ts';

const ROLE_OF: Readonly<Record<ProcessName, ProcessRole>> = {
  nameserver: 'zonefleet_node',
  API: 'zonefleet_api',
  workers: 'zonefleet_worker',
};

export interface RoleUrls {
  /** The URL of the role that owns the schema. */
  readonly owner: string;
  readonly of: (name: ProcessName) => string;
}

/** `db` and `url` are the superuser's, and the schema is migrated. */
export async function openToRoles(db: Database, url: string): Promise<RoleUrls> {
  const passwords = Object.fromEntries([...PROCESS_ROLES, OWNER_ROLE].map((role) => [role, makePassword()]));
  await setRolePasswords(db, passwords);
  return { ...roleUrls(url, passwords), owner: withRole(url, OWNER_ROLE, passwords[OWNER_ROLE] as string) };
}

/** A role without a password here is not used: its process connects as the owner. */
export function roleUrls(url: string, passwords: Readonly<Record<string, string>>): RoleUrls {
  const urlOf = (role: string) => {
    const password = passwords[role];
    return password === undefined ? url : withRole(url, role, password);
  };
  return { owner: url, of: (name) => urlOf(ROLE_OF[name]) };
}

/** The same server and database as another role. */
function withRole(url: string, role: string, password: string): string {
  return url.replace(/^(postgres(?:ql)?:\/\/)(?:[^@/?]*@)?/, `$1${role}:${password}@`);
}
