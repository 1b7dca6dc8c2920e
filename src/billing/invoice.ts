// Descriptions and numbers of invoices.

interface BoughtTerm {
  readonly planName: string;
  readonly days: number;
  /** In display form, without the trailing dot. */
  readonly domain: string;
}

export function describeTerm({ planName, days, domain }: BoughtTerm): string {
  return `${planName} for ${days} ${days === 1 ? 'day' : 'days'}: ${domain}`;
}

/** Formats for example `2026-000042`. Numbers have no gaps within a year. */
export function invoiceNumber({ year, number }: { readonly year: number; readonly number: number }): string {
  return `${year}-${String(number).padStart(6, '0')}`;
}

/** Returns undefined if the text is not an invoice number. */
export function readInvoiceNumber(
  text: string,
): { readonly year: number; readonly number: number } | undefined {
  const [, year, number] = /^(\d{4})-(\d{6,9})$/.exec(text) ?? [];
  return number === undefined ? undefined : { year: Number(year), number: Number(number) };
}
