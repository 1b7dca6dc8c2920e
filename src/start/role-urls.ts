// Each process connects as its own database role. The roles of the embedded Postgres get new passwords at each start, which
// only `npm start` and the process that uses each one have. The owner's password is for the command line.

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
  /** URL of the role that owns the schema. */
  readonly owner: string;
  readonly of: (name: ProcessName) => string;
}

/** `db` and `url` are the superuser's. The schema is migrated. */
export async function openToRoles(db: Database, url: string): Promise<RoleUrls> {
  const passwords = Object.fromEntries([...PROCESS_ROLES, OWNER_ROLE].map((role) => [role, makePassword()]));
  await setRolePasswords(db, passwords);
  return { ...roleUrls(url, passwords), owner: withRole(url, OWNER_ROLE, passwords[OWNER_ROLE] as string) };
}

/** Roles without a password here are not used: their processes connect as the owner. */
export function roleUrls(url: string, passwords: Readonly<Record<string, string>>): RoleUrls {
  const urlOf = (role: string) => {
    const password = passwords[role];
    return password === undefined ? url : withRole(url, role, password);
  };
  return { owner: url, of: (name) => urlOf(ROLE_OF[name]) };
}

/** Returns the URL of the same server and database with another role. */
function withRole(url: string, role: string, password: string): string {
  return url.replace(/^(postgres(?:ql)?:\/\/)(?:[^@/?]*@)?/, `$1${role}:${password}@`);
}
