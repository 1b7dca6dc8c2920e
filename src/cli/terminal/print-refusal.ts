// Prints why a command refuses its domain: to stderr, or as the document with --json.

import type { Name } from '../../dns/name.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { Output } from './output.ts';

export interface Refusal {
  readonly kind: 'refused';
  readonly code: string;
  readonly message: string;
  /** `lines` follow the message in the text, `members` are added to the JSON. */
  readonly lines?: readonly string[];
  readonly members?: object;
}

export async function printRefusal(
  name: Name,
  { code, message, lines = [], members }: Refusal,
  output: Output,
): Promise<void> {
  const domain = printWithoutDot(name);
  if (output.json)
    await output.print(JSON.stringify({ domain, outcome: 'refused', code, message, ...members }));
  else await output.complain([`${domain}: ${message}`, ...lines].join('\n'));
}
