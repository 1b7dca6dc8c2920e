// Badges for the rights of an account and for an inactive one.

import type { components } from '../../../api/admin-schema.d.ts';
import { Badge } from '../../../parts/status.tsx';
import { operator } from '../../../words/operator.ts';

export function AccountBadges({
  account: { admin: isAdmin, reseller, provider, active },
}: {
  readonly account: components['schemas']['AdminAccount'];
}) {
  const { rights } = operator.accounts;
  return (
    <span class="row">
      {!active && <Badge tone="bad">{rights.inactive}</Badge>}
      {isAdmin && <Badge tone="warn">{rights.admin}</Badge>}
      {reseller && <Badge>{rights.reseller}</Badge>}
      {provider !== undefined && <Badge>{rights.client}</Badge>}
    </span>
  );
}
