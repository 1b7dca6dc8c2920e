// What `npm start` tells the process of the demo.

import type { ListenAddress } from '../../process/listen-address.ts';
import type { ProcessUser } from '../../process/run-as.ts';

/** As JSON in the environment. */
export interface DemoOptions {
  /** Of all nameservers in the demo. */
  readonly dnsPort: number;
  readonly registrar: ListenAddress;
  /** The process may write there. */
  readonly directory: string;
  /** What is registered at the first start. */
  readonly registrations: readonly (readonly [string, readonly string[]])[];
  readonly user?: ProcessUser | undefined;
}

export const REGISTRY_FILE = 'registry.json';
