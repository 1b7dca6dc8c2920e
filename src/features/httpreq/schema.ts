// The body of both calls: lego's normal mode, or its mode RAW. `rules.ts` checks which members are present.

import { z } from 'zod';

/** A name with escapes, or a key authorization. */
const text = z.string().max(2000).optional();

export const ChallengeBody = z.looseObject({
  fqdn: text,
  value: text,
  domain: text,
  token: text,
  keyAuth: text,
});
