// Subjects of the root certificates that browsers have, from Node's copy of Mozilla's list.

import { X509Certificate } from 'node:crypto';
import { rootCertificates } from 'node:tls';

let subjects: ReadonlySet<string> | undefined;

/** Computed on first use, because it takes a few milliseconds. */
export function rootSubjects(): ReadonlySet<string> {
  subjects ??= new Set(rootCertificates.map((pem) => new X509Certificate(pem).subject));
  return subjects;
}
