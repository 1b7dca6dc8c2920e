// What the audit log tells of a machine token: never the secret.

import type { AuditNote } from '../audit/write-audit.ts';
import type { ResellerToken } from './tokens.ts';

export function tokenNote(
  { id, accountId, name, keyId, expiresAt }: ResellerToken,
  when: 'before' | 'after',
): AuditNote {
  const told = { name, key_id: keyId, expires_at: expiresAt };
  return { accountId, target: { id, name }, [when]: told };
}
