// Amounts in whole rials, with a separator that people and spreadsheets understand.

import { wallet } from '../../words/wallet.ts';
import { words } from '../../words/words.ts';

export function rials(amount: number): string {
  return wallet.rials(amount.toLocaleString(words.locale));
}

/** Parses `1,250,000`, `1 250 000` or `۱۲۵۰۰۰۰`. Returns undefined if it is not an amount. */
export function amountIn(text: string): number | undefined {
  const digits = text
    .replaceAll(/[۰-۹]/g, (digit) => String(digit.charCodeAt(0) - 0x6f0))
    .replaceAll(/[٠-٩]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
    .trim();
  // Separators are accepted only between groups of three: otherwise `10000.50` would be read as a hundred times the amount.
  if (!/^(\d{1,15}|\d{1,3}([\s,.'٬_]\d{3}){1,4})$/.test(digits)) return undefined;
  return Number(digits.replaceAll(/\D/g, ''));
}
