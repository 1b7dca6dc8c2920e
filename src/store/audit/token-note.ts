// What the audit log tells of a machine token: never the secret.

import type { ResellerToken } from '../accounts/reseller-tokens.ts';
import type { AuditNote } from './write-audit.ts';

export function tokenNote(
  { id, accountId, name, keyId, expiresAt }: ResellerToken,
  when: 'before' | 'after',
): AuditNote {
  const told = { name, key_id: keyId, expires_at: expiresAt };
  return { accountId, target: { id, name }, [when]: told };
}
