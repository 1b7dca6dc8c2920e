// The warnings of a write, which a repeat under its Idempotency-Key gets too.

import type { z } from 'zod';
import { showWarnings } from '../../zone/warnings/zone-warning.ts';
import type { CallOf } from '../calls/call.ts';
import type { Warnings } from '../schemas/records/warning.ts';
import type { Saved } from './save-records.ts';

type Printed = z.input<typeof Warnings>;

/** Returns the warnings of a write for its answer, and keeps them with the answer. */
export function storeWarnings(
  { domain, answerRest }: Pick<CallOf<'domain'>, 'domain' | 'answerRest'>,
  { warnings }: Saved,
): Printed {
  const printed = showWarnings(warnings, domain.name);
  if (printed.length > 0) answerRest({ warnings: printed });
  return printed;
}

/** Returns the warnings of the first answer. */
export function readStoredWarnings(rest: unknown): Printed {
  return (rest as { readonly warnings: Printed } | undefined)?.warnings ?? [];
}
