// What the parts of the proxy share while it serves.

import type { Acting } from './act.ts';
import type { CertificateKeys } from './certificates.ts';
import type { ConfigStore } from './config-store.ts';
import type { Forwarding } from './forward.ts';
import type { RequestReporter } from './report-requests.ts';
import type { Seen } from './visit.ts';

export interface EdgeProxyOptions {
  /** Networks that origins may be in although they are special. */
  readonly allow?: readonly string[];
  /** Default: the system's. */
  resolve?(name: string): Promise<readonly string[]>;
  loadCertificate?(id: number): Promise<CertificateKeys>;
}

export interface Serving extends Acting, Forwarding {
  readonly configs: ConfigStore;
  readonly options: EdgeProxyOptions;
  readonly seen: Seen[];
  readonly requestReporter: RequestReporter;
}
