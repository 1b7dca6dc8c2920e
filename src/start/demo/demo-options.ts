// Options that `npm start` passes to the demo process.

import type { ListenAddress } from '../../process/listen-address.ts';
import type { ProcessUser } from '../../process/run-as.ts';

/** JSON in the environment. */
export interface DemoOptions {
  /** Port of all nameservers in the demo. */
  readonly dnsPort: number;
  readonly registrar: ListenAddress;
  /** Directory to which the process may write. */
  readonly directory: string;
  /** Registrations at the first start. */
  readonly registrations: readonly (readonly [string, readonly string[]])[];
  readonly user?: ProcessUser | undefined;
}

export const REGISTRY_FILE = 'registry.json';
