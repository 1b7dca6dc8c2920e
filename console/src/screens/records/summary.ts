// The value of a record in one line, with its priority if the type has one.

import type { Typed } from './typed.ts';

export function summaryOf({ type, destination, mx_priority }: Typed): string {
  return type === 'MX' && mx_priority !== '' ? `${mx_priority} ${destination}` : destination;
}
