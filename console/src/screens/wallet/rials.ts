// Amounts of money: whole rials, with the sign that spreadsheets and people read alike.

import { words } from '../../words/words.ts';

export function rials(amount: number): string {
  return words.wallet.rials(amount.toLocaleString(words.locale));
}

/** Out of what a person types: `1,250,000`, `1 250 000`, `۱۲۵۰۰۰۰`. Undefined: no amount. */
export function amountIn(text: string): number | undefined {
  const digits = text
    .replaceAll(/[۰-۹]/g, (digit) => String(digit.charCodeAt(0) - 0x6f0))
    .replaceAll(/[٠-٩]/g, (digit) => String(digit.charCodeAt(0) - 0x660))
    .trim();
  // Signs stand between groups of three: in `10000.50` the point is none of them, and a tenth is no hundredfold.
  if (!/^(\d{1,15}|\d{1,3}([\s,.'٬_]\d{3}){1,4})$/.test(digits)) return undefined;
  return Number(digits.replaceAll(/\D/g, ''));
}
