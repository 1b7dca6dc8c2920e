// Formats a share as a percentage.

import { words } from '../../../words/words.ts';

/** `share`: from 0 to 1. */
export function shareText(share: number): string {
  return share.toLocaleString(words.locale, { style: 'percent', maximumFractionDigits: 1 });
}
