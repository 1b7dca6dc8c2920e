// The body of both calls: lego's normal mode, its mode RAW, or that of Caddy's module `acmeproxy`, which differs from the normal
// mode in the case of its members. `rules.ts` checks which members are present.

import { z } from 'zod';

/** A name with escapes, or a key authorization. */
const text = z.string().max(2000).optional();

export const ChallengeBody = z.looseObject({
  fqdn: text,
  value: text,
  domain: text,
  token: text,
  keyAuth: text,
  FQDN: text,
  Value: text,
});
