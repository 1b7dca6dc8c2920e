// Describes grants for the audit log.

import { printName } from '../../dns/name.ts';
import { typeMnemonic } from '../../dns/type-codes.ts';
import type { UpdateGrant } from '../../zone/update/update-grant.ts';

/** Describes a grant by one text, because the audit log limits the depth of its fields. */
export function describeGrant(grant: UpdateGrant & { readonly keyName: string }): string {
  const { keyName, owner, match, types, editsOrigin } = grant;
  const named = types === null ? 'all types' : types.map(typeMnemonic).join(',');
  return `${keyName} ${match} ${printName(owner)} ${named}${editsOrigin ? ' origin' : ''}`;
}
