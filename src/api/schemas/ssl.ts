// The certificate of a domain, and the order for the next one.

import { z } from 'zod';
import { CERTIFICATE_STATUSES } from '../../edge/certificates/certificate-status.ts';
import { MAX_PEM_CHARACTERS } from '../../edge/certificates/decode-certificate.ts';
import { Timestamp } from './fields.ts';

const status = z
  .enum(CERTIFICATE_STATUSES)
  .describe(
    '`pending`: one is being ordered. `failed`: the last order failed, and is tried again. `expiring`: the certificate ends soon, or has ended, and nothing has renewed it. `custom`: yours, which you renew yourself.',
  );

export const SslSummary = z.object({ status, not_after: Timestamp.optional() });

export const Ssl = z
  .object({
    status,
    names: z.array(z.string()).describe('The names of the certificate; without one, those that are ordered.'),
    not_before: Timestamp.optional(),
    not_after: Timestamp.optional(),
    issuer: z.string().optional(),
    fingerprint: z.string().optional().describe('The SHA-256 of the certificate in hexadecimal digits.'),
    renews_at: Timestamp.optional().describe('Of an issued certificate: when the next one is ordered.'),
    last_error: z.string().optional().describe('Why the last order failed.'),
    failed_at: Timestamp.optional(),
    next_attempt_at: Timestamp.optional(),
    findings: z
      .array(z.object({ code: z.string(), message: z.string() }))
      .describe('What keeps names from being certified, and what to change.'),
  })
  .meta({ id: 'Ssl' });

const pem = z.string().min(1).max(MAX_PEM_CHARACTERS);

export const SslUpload = z
  .object({
    certificate: pem.describe('PEM: the certificate, and behind it the intermediate ones.'),
    private_key: pem.describe('PEM, without a passphrase. It is stored sealed, and never answered.'),
  })
  .meta({ id: 'SslUpload' });
