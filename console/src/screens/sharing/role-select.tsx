// Selects a role that can be granted.

import { domains } from '../../words/domains.ts';

type Role = 'viewer' | 'editor' | 'admin';
export const GIVEN_ROLES: readonly Role[] = ['viewer', 'editor', 'admin'];

interface RoleSelectProps {
  readonly label: string;
  readonly value: Role;
  readonly isBusy: boolean;
  readonly onChoose: (role: Role) => void;
}

export function RoleSelect({ label, value, isBusy, onChoose }: RoleSelectProps) {
  return (
    <select
      aria-label={label}
      value={value}
      disabled={isBusy}
      onChange={(event) => onChoose(event.currentTarget.value as Role)}
    >
      {GIVEN_ROLES.map((role) => (
        <option key={role} value={role}>
          {domains.roles[role]}
        </option>
      ))}
    </select>
  );
}
