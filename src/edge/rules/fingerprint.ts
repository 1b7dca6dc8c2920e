// Matches clients by the fingerprint of their TLS handshake.

import { z } from 'zod';
import { ruleKind } from './rule-kind.ts';
import { distinct } from './text-fields.ts';

const JA3 = /^[0-9a-f]{32}$/;
/** Protocol, version, SNI, counts and ALPN, then the hashes of ciphers and extensions. */
const JA4 = /^[tqd](?:[01][0-9]|s[1-3]|d[1-3])[di][0-9]{4}[a-z0-9]{2}_[0-9a-f]{12}_[0-9a-f]{12}$/;

const fingerprintText = z
  .string()
  .refine(
    (text) => JA3.test(text) || JA4.test(text),
    'expected a JA3 (32 hexadecimal digits) or a JA4, in lower case',
  )
  .meta({ maxLength: 36 });

export const fingerprint = ruleKind({
  type: 'fingerprint',
  what: 'Matches clients by JA3 or JA4.',
  fields: {
    fingerprints: distinct(fingerprintText, 1000, 1),
    action: z.enum(['block', 'captcha', 'allow']).default('block'),
  },
  gate: 'rules',
  countsDryRun: true,
  toEdge: ({ fingerprints, action }) => ({ type: 'fingerprint', fingerprints, action }),
});
