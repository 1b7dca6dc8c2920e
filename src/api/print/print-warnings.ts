// Warnings as the API shows them.

import type { z } from 'zod';
import type { Name } from '../../dns/name.ts';
import { printRecordName } from '../../zone/records/record-name.ts';
import type { ZoneWarning } from '../../zone/warnings/zone-warning.ts';
import type { Warnings } from '../schemas/records/warning.ts';

export function printWarnings(warnings: readonly ZoneWarning[], apex: Name): z.input<typeof Warnings> {
  return warnings.map(({ line, owner, type, code, message }) => ({
    ...(line !== undefined && { line }),
    name: printRecordName(owner, apex),
    type,
    code,
    message,
  }));
}
