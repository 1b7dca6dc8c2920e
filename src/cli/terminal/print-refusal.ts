// Prints why a command refuses its one domain: to stderr for people, as the document with --json.

import type { Name } from '../../dns/name.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { Output } from './output.ts';

export interface Refusal {
  readonly kind: 'refused';
  readonly code: string;
  readonly message: string;
}

export async function printRefusal(name: Name, { code, message }: Refusal, output: Output): Promise<void> {
  const domain = printWithoutDot(name);
  if (output.json) await output.print(JSON.stringify({ domain, outcome: 'refused', code, message }));
  else await output.complain(`${domain}: ${message}`);
}
