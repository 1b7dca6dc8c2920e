// `zonefleet invoice …`.

import type { Command } from 'commander';
import { invoiceNumber, readInvoiceNumber } from '../../billing/invoice.ts';
import type { Cli } from '../../cli/terminal/cli.ts';
import { commandOf } from '../../cli/terminal/commands.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { withAccount } from '../../cli/terminal/find-account.ts';
import { printTable } from '../../cli/terminal/print-table.ts';
import type { Invoice } from './sql-invoices.ts';

const MOST_LISTED = 1000;

export function addInvoiceCommands(program: Command, cli: Cli): void {
  const invoice = commandOf(program, 'invoice');
  invoice
    .command('list')
    .description('list the invoices of an account, newest first')
    .argument('<account>', 'email or id')
    .action((account: string) => list(cli, account));
  invoice
    .command('show')
    .description('show one invoice; exits with 1 if it does not exist')
    .argument('<number>', 'such as 2026-000042')
    .action((number: string) => show(cli, number));
}

async function list(cli: Cli, name: string): Promise<void> {
  const { listInvoices } = await import('./sql-invoices.ts');
  const { output } = cli;
  await cli.withStore((db) =>
    withAccount(db, name, output, async ({ id: accountId }) => {
      const invoices = await listInvoices(db, { accountId }, { limit: MOST_LISTED, descending: true });
      if (output.json) {
        await output.print(JSON.stringify({ invoices: invoices.map(invoiceJson) }));
        return 0;
      }
      const heads = ['NUMBER', 'ISSUED', 'TOTAL', 'DOMAIN'];
      const cells = invoices.map((each) => [
        invoiceNumber(each),
        each.issuedAt.toISOString(),
        each.totalRials,
        each.domain?.replace(/\.$/, '') ?? '-',
      ]);
      await output.print(printTable(heads, cells));
      return 0;
    }),
  );
}

async function show(cli: Cli, text: string): Promise<void> {
  const named = readInvoiceNumber(text);
  if (named === undefined) throw new Failure('usage', `"${text}": expected a number such as 2026-000042`);
  const { loadInvoice } = await import('./sql-invoices.ts');
  const { output } = cli;
  await cli.withStore(async (db) => {
    const invoice = await loadInvoice(db, named);
    if (output.json) {
      const json = invoice === undefined ? { number: text, outcome: 'absent' } : invoiceJson(invoice);
      await output.print(JSON.stringify(json));
    } else if (invoice === undefined) await output.complain(`${text}: no such invoice`);
    else await output.print(tableOf(invoice));
    return invoice === undefined ? 1 : 0;
  });
}

function tableOf(invoice: Invoice): string {
  const { buyerName, buyerEmail, lines, totalRials, issuedAt } = invoice;
  const buyer = buyerName === null ? buyerEmail : `${buyerName} <${buyerEmail}>`;
  const rows = lines.map(({ description, amount_rials }) => [description, amount_rials]);
  return [
    printTable(['INVOICE', 'ISSUED', 'BUYER'], [[invoiceNumber(invoice), issuedAt.toISOString(), buyer]]),
    printTable(['FOR', 'RIALS'], [...rows, ['Total', totalRials]]),
  ].join('\n');
}

function invoiceJson(invoice: Invoice): object {
  return {
    id: invoice.id,
    number: invoiceNumber(invoice),
    account_id: invoice.accountId,
    buyer_name: invoice.buyerName,
    buyer_email: invoice.buyerEmail,
    domain: invoice.domain?.replace(/\.$/, '') ?? null,
    lines: invoice.lines,
    total_rials: invoice.totalRials,
    period_start: invoice.periodStart?.toISOString() ?? null,
    period_end: invoice.periodEnd?.toISOString() ?? null,
    issued_at: invoice.issuedAt.toISOString(),
  };
}
