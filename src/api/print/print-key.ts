// API keys as JSON, without their text.

import type { z } from 'zod';
import type { ApiKey } from '../../store/accounts/api-keys.ts';
import type { Key } from '../schemas/key.ts';

export function printKey({
  id,
  name,
  prefix,
  readOnly,
  domains,
  names,
  types,
  ...times
}: ApiKey): z.input<typeof Key> {
  const { expiresAt, lastUsedAt, createdAt } = times;
  return {
    id,
    name,
    prefix,
    read_only: readOnly,
    ...(domains !== null && { domains: [...domains] }),
    ...(names !== null && { names: [...names] }),
    ...(types !== null && { types: [...types] }),
    ...(expiresAt !== null && { expires_at: expiresAt.toISOString() }),
    ...(lastUsedAt !== null && { last_used_at: lastUsedAt.toISOString() }),
    created_at: createdAt.toISOString(),
  };
}
