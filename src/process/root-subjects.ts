// The subjects of the root certificates that browsers have, as Node brings them from Mozilla.

import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';

let subjects: ReadonlySet<string> | undefined;

/** Read once, when first asked for: it takes some milliseconds. */
export function rootSubjects(): ReadonlySet<string> {
  subjects ??= new Set(rootCertificates.map((pem) => new X509Certificate(pem).subject));
  return subjects;
}
