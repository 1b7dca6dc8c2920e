// `zonefleet ticket …`: lists, reads, answers and closes tickets.

import type { Command } from 'commander';
import type { Cli } from '../../cli/terminal/cli.ts';
import { commandOf } from '../../cli/terminal/commands.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { printTable } from '../../cli/terminal/print-table.ts';
import type { AuditAction } from '../../store/audit/audit-actions.ts';
import type { Database } from '../../store/postgres/database.ts';
import { MESSAGE_CHARACTERS, MOST_MESSAGES, TICKET_STATUSES, type TicketStatus } from './rules.ts';
import type { Ticket, TicketMessage } from './sql-read.ts';

const MOST_LISTED = 1000;
/** Characters that could control the operator's terminal. Line breaks and tabs are kept. */
const UNSHOWN = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu;

interface ListOptions {
  readonly status?: string;
  readonly priority?: true;
}

export function addTicketCommands(program: Command, cli: Cli): void {
  const ticket = commandOf(program, 'ticket');
  ticket
    .command('list')
    .description('list tickets, oldest first')
    .option('--status <status>', 'open, answered or closed')
    .option('--priority', 'only those with dedicated support')
    .action((options: ListOptions) => list(cli, options));
  ticket
    .command('show')
    .description('show a ticket with its messages; exits with 1 if it does not exist')
    .argument('<id>')
    .action((id: string) => show(cli, id));
  ticket
    .command('answer')
    .description('answer a ticket; its account is notified by mail')
    .argument('<id>')
    .argument('[text]', 'the answer; if omitted, it is read from standard input')
    .action((id: string, text: string | undefined) => answer(cli, id, text));
  ticket
    .command('close')
    .description('close a ticket')
    .argument('<id>')
    .action((id: string) => close(cli, id));
}

async function list(cli: Cli, { status, priority }: ListOptions): Promise<void> {
  if (status !== undefined && !isStatus(status))
    throw new Failure('usage', `--status: expected ${TICKET_STATUSES.join(', ')}, not "${status}"`);
  const { listTickets } = await import('./sql-read.ts');
  const { output } = cli;
  await cli.withStore(async (db) => {
    const tickets = await listTickets(db, { status, priority }, { limit: MOST_LISTED, descending: false });
    if (output.json) {
      await output.print(JSON.stringify({ tickets: tickets.map(ticketJson) }));
      return 0;
    }
    const heads = ['ID', 'STATUS', 'PRIORITY', 'ACCOUNT', 'CHANGED', 'SUBJECT'];
    const cells = tickets.map((each) => [
      each.id,
      each.status,
      each.priority ? 'yes' : '-',
      each.email,
      each.updatedAt.toISOString(),
      each.subject,
    ]);
    await output.print(printTable(heads, cells));
    return 0;
  });
}

function isStatus(text: string): text is TicketStatus {
  return (TICKET_STATUSES as readonly string[]).includes(text);
}

async function show(cli: Cli, idText: string): Promise<void> {
  const id = readId(idText);
  const { listMessages, loadTicket } = await import('./sql-read.ts');
  const { output } = cli;
  await cli.withStore(async (db) => {
    const ticket = await loadTicket(db, id);
    if (ticket === undefined) return await tellAbsent(cli, id);
    const messages = await listMessages(db, { ticketId: id }, { limit: MOST_MESSAGES, descending: false });
    await output.print(
      output.json
        ? JSON.stringify({ ...ticketJson(ticket), messages: messages.map(messageJson) })
        : [headOf(ticket), ...messages.map(textOf)].join('\n\n'),
    );
    return 0;
  });
}

async function answer(cli: Cli, idText: string, given: string | undefined): Promise<void> {
  const id = readId(idText);
  const { readStandardInput } = await import('../../cli/terminal/read-standard-input.ts');
  const message = (given ?? (await readStandardInput())).replaceAll('\0', '').trim();
  if (message === '' || message.length > MESSAGE_CHARACTERS)
    throw new Failure('usage', `expected an answer of 1 to ${MESSAGE_CHARACTERS} characters`);
  const { writeMessage } = await import('./sql-write.ts');
  const tells = (await cli.settings()).smtpUrl !== undefined;
  const by = { kind: 'staff', accountId: null, tells } as const;
  await write(cli, id, 'ticket.answer', (trx) => writeMessage(trx, { ticketId: id, message, by }));
}

async function close(cli: Cli, idText: string): Promise<void> {
  const id = readId(idText);
  const { setTicketStatus } = await import('./sql-write.ts');
  await write(cli, id, 'ticket.status', (trx) => setTicketStatus(trx, { ticketId: id, status: 'closed' }));
}

type Written =
  | { readonly kind: 'written'; readonly before: Ticket; readonly ticket: Ticket }
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly message: string };

async function write(
  cli: Cli,
  id: number,
  action: AuditAction,
  work: (trx: Database) => Promise<Written>,
): Promise<void> {
  const { output } = cli;
  await cli.withStore(async (db) => {
    const written = await cli.audited(db, action, async (trx, tell) => {
      const done = await work(trx);
      if (done.kind !== 'written') return done;
      const { before, ticket } = done;
      const isNothing = action === 'ticket.status' && before.status === ticket.status;
      const sides = { before: { status: before.status }, after: { status: ticket.status } };
      if (!isNothing) tell({ accountId: ticket.accountId, target: { id, name: ticket.subject }, ...sides });
      return done;
    });
    if (written.kind === 'absent') return await tellAbsent(cli, id);
    const isRefused = written.kind === 'refused';
    if (output.json) {
      const json = isRefused
        ? { id, outcome: 'refused', message: written.message }
        : ticketJson(written.ticket);
      await output.print(JSON.stringify(json));
    } else if (isRefused) await output.complain(`${id}: ${written.message}`);
    else await output.print(`${written.ticket.status} ${id}`);
    return isRefused ? 1 : 0;
  });
}

async function tellAbsent({ output }: Cli, id: number): Promise<number> {
  if (output.json) await output.print(JSON.stringify({ id, outcome: 'absent' }));
  else await output.complain(`${id}: no such ticket`);
  return 1;
}

function readId(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new Failure('usage', `"${text}": expected the id of a ticket`);
}

function headOf({ id, status, email, subject, priority }: Ticket): string {
  return `${id} ${status}${priority ? ', priority' : ''}: ${subject} (${email})`.replaceAll(
    UNSHOWN,
    '\ufffd',
  );
}

function textOf({ isStaff, createdAt, message }: TicketMessage): string {
  const lines = message.replaceAll('\r', '').replaceAll(UNSHOWN, '\ufffd').replaceAll('\n', '\n  ');
  return `${createdAt.toISOString()} ${isStaff ? 'staff' : 'account'}\n  ${lines}`;
}

function ticketJson(ticket: Ticket): object {
  return {
    id: ticket.id,
    account_id: ticket.accountId,
    email: ticket.email,
    subject: ticket.subject,
    status: ticket.status,
    priority: ticket.priority,
    created_at: ticket.createdAt.toISOString(),
    updated_at: ticket.updatedAt.toISOString(),
  };
}

function messageJson({ id, isStaff, accountId, message, createdAt }: TicketMessage): object {
  const author = isStaff ? 'staff' : 'account';
  return { id, author, account_id: accountId, message, created_at: createdAt.toISOString() };
}
