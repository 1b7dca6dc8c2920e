// A self-signed certificate with an ECDSA P-256 key, which every server of the part uses.

import { join } from 'node:path';
import { runToEnd } from '../program.ts';
import type { TlsFiles } from '../servers/server.ts';

export async function makeCertificate(directory: string): Promise<TlsFiles> {
  const files = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') };
  await runToEnd(
    [
      ...['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ...['-subj', '/CN=bench.test', '-days', '30', '-keyout', files.key, '-out', files.cert],
    ],
    { timeoutMs: 30_000 },
  );
  return files;
}
