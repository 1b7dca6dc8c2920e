// What invoices and the ledger say of a purchase.

interface BoughtTerm {
  readonly planName: string;
  readonly days: number;
  /** As people read it: without the final dot. */
  readonly domain: string;
}

export function describeTerm({ planName, days, domain }: BoughtTerm): string {
  return `${planName} for ${days} ${days === 1 ? 'day' : 'days'}: ${domain}`;
}

/** `2026-000042`: without gaps in a year. */
export function invoiceNumber({ year, number }: { readonly year: number; readonly number: number }): string {
  return `${year}-${String(number).padStart(6, '0')}`;
}

/** Undefined: it is no number of an invoice. */
export function readInvoiceNumber(
  text: string,
): { readonly year: number; readonly number: number } | undefined {
  const [, year, number] = /^(\d{4})-(\d{6,9})$/.exec(text) ?? [];
  return number === undefined ? undefined : { year: Number(year), number: Number(number) };
}
