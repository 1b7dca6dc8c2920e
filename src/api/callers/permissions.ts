// What each role may do with a domain (docs/rules.md "Access").

import type { Role } from '../../store/postgres/tables/schema.ts';

export const PERMISSIONS = [
  'domain.view',
  'domain.settings',
  'domain.delete',
  'dnssec.keys',
  'records.edit',
  'rules.edit',
  'cache.edit',
  'ssl.manage',
  'analytics.view',
  'billing',
  'members.manage',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

export const ROLES = ['owner', 'admin', 'editor', 'viewer'] as const satisfies readonly Role[];

const VIEWER: readonly Permission[] = ['domain.view', 'analytics.view'];
const EDITOR: readonly Permission[] = [...VIEWER, 'records.edit', 'rules.edit', 'cache.edit'];
const ADMIN: readonly Permission[] = [...EDITOR, 'domain.settings', 'ssl.manage', 'members.manage'];

const GRANTED: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  viewer: new Set(VIEWER),
  editor: new Set(EDITOR),
  admin: new Set(ADMIN),
  owner: new Set(PERMISSIONS),
};

export function mayDo(role: Role, permission: Permission): boolean {
  return GRANTED[role].has(permission);
}

/** The permissions, in the order of `PERMISSIONS`. */
export function permissionsOf(role: Role): Permission[] {
  return PERMISSIONS.filter((permission) => GRANTED[role].has(permission));
}
