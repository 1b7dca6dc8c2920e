// A certificate in the edge configuration's format, for configs written by hand.

import { X509Certificate } from 'node:crypto';
import type { EdgeCertificate } from '../../../src/edge/edge-config.ts';

export function certificateOf(id: number, pem: string): EdgeCertificate {
  const { fingerprint256, validTo, subjectAltName = '' } = new X509Certificate(pem);
  return {
    id,
    names: subjectAltName.split(', ').map((name) => name.replace('DNS:', '')),
    not_after: new Date(validTo).toISOString(),
    sha256: fingerprint256.replaceAll(':', '').toLowerCase(),
  };
}
