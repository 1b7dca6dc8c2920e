// The certificate of a domain, and the order for the next one.

import { z } from 'zod';
import { CERTIFICATE_STATUSES } from '../../edge/certificates/certificate-status.ts';
import { MAX_PEM_CHARACTERS } from '../../edge/certificates/decode-certificate.ts';
import { Timestamp } from './fields.ts';

const status = z
  .enum(CERTIFICATE_STATUSES)
  .describe(
    '`pending`: a certificate is being ordered. `failed`: the last order failed and will be retried. `expiring`: the certificate ends soon or has ended, and has not been renewed. `custom`: your own certificate, which you renew yourself.',
  );

export const SslSummary = z.object({ status, not_after: Timestamp.optional() });

export const Ssl = z
  .object({
    status,
    names: z
      .array(z.string())
      .describe('The names of the certificate, or of the order if there is no certificate yet.'),
    not_before: Timestamp.optional(),
    not_after: Timestamp.optional(),
    issuer: z.string().optional(),
    fingerprint: z
      .string()
      .optional()
      .describe('The SHA-256 digest of the certificate in hexadecimal digits.'),
    renews_at: Timestamp.optional().describe(
      'For an issued certificate: the time at which the next one is ordered.',
    ),
    last_error: z.string().optional().describe('Why the last order failed.'),
    failed_at: Timestamp.optional(),
    next_attempt_at: Timestamp.optional(),
    findings: z
      .array(z.object({ code: z.string(), message: z.string() }))
      .describe('Why names cannot be certified, and what to change.'),
  })
  .meta({ id: 'Ssl' });

const pem = z.string().min(1).max(MAX_PEM_CHARACTERS);

export const SslUpload = z
  .object({
    certificate: pem.describe('PEM: the certificate, followed by the intermediate certificates.'),
    private_key: pem.describe('PEM, without a passphrase. It is stored encrypted, and never returned.'),
  })
  .meta({ id: 'SslUpload' });
