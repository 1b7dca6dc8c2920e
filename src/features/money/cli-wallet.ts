// `zonefleet wallet …`: balances, top-ups and adjustments.

import type { Command } from 'commander';
import { MAX_RIALS } from '../../billing/ledger.ts';
import { stateOf, TOPUP_STATES, type TopupState } from '../../billing/topup.ts';
import type { Cli } from '../../cli/terminal/cli.ts';
import { commandOf } from '../../cli/terminal/commands.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { withAccount } from '../../cli/terminal/find-account.ts';
import { printTable } from '../../cli/terminal/print-table.ts';
import type { Payment } from './sql-payments.ts';

const LISTED = 50;
const MOST_LISTED = 1000;

interface AdjustOptions {
  readonly add?: string;
  readonly take?: string;
  readonly reason: string;
}

export function addWalletCommands(program: Command, cli: Cli): void {
  const wallet = commandOf(program, 'wallet');
  wallet
    .command('show')
    .description('show the balance of an account')
    .argument('<account>', 'email or id')
    .action((account: string) => show(cli, account));
  wallet
    .command('transactions')
    .description('list the transactions of an account, newest first')
    .argument('<account>', 'email or id')
    .option('--limit <rows>', 'maximum number, 1 to 1000', String(LISTED))
    .action((account: string, { limit }: { limit: string }) => list(cli, account, limit));
  wallet
    .command('adjust')
    .description('add money to a wallet, or take it out; exits with 1 if the balance is too low')
    .argument('<account>', 'email or id')
    .option('--add <rials>', 'amount to add')
    .option('--take <rials>', 'amount to take out')
    .requiredOption('--reason <text>', 'description that the owner sees')
    .action((account: string, options: AdjustOptions) => adjust(cli, account, options));
  wallet
    .command('topups')
    .description('list the top-ups of an account, or of all, newest first')
    .argument('[account]', 'email or id')
    .option('--state <state>', 'open, paid, cancelled or expired')
    .action((account: string | undefined, { state }: { state?: string }) => topups(cli, account, state));
  wallet
    .command('confirm')
    .description('credit a top-up whose payment you have received; exits with 1 if it is already paid')
    .argument('<id>', 'id, as shown by `wallet topups`')
    .action((id: string) => confirm(cli, id));
}

async function show(cli: Cli, name: string): Promise<void> {
  const { loadBalance } = await import('./sql-wallet.ts');
  const { output } = cli;
  await cli.withStore((db) =>
    withAccount(db, name, output, async ({ id, email }) => {
      const balance = await loadBalance(db, id);
      await output.print(
        output.json
          ? JSON.stringify({ account_id: id, email, balance_rials: balance })
          : `${email} ${balance} rials`,
      );
      return 0;
    }),
  );
}

async function list(cli: Cli, name: string, limitText: string): Promise<void> {
  const limit = readWhole('--limit', limitText, MOST_LISTED);
  const { listTransactions } = await import('./sql-wallet.ts');
  const { output } = cli;
  await cli.withStore((db) =>
    withAccount(db, name, output, async ({ id: accountId }) => {
      const rows = await listTransactions(db, { accountId }, { limit, descending: true });
      if (output.json) {
        const transactions = rows.map((row) => ({
          id: row.id,
          amount_rials: row.amountRials,
          balance_rials: row.balanceRials,
          ref_type: row.refType,
          ref_id: row.refId,
          description: row.description,
          created_at: row.createdAt.toISOString(),
        }));
        await output.print(JSON.stringify({ transactions }));
        return 0;
      }
      const heads = ['ID', 'AT', 'AMOUNT', 'BALANCE', 'WHY', 'DESCRIPTION'];
      const cells = rows.map(({ id, createdAt, amountRials, balanceRials, refType, description }) => [
        id,
        createdAt.toISOString(),
        amountRials,
        balanceRials,
        refType,
        description,
      ]);
      await output.print(printTable(heads, cells));
      return 0;
    }),
  );
}

async function adjust(cli: Cli, name: string, { add, take, reason }: AdjustOptions): Promise<void> {
  if ((add === undefined) === (take === undefined)) throw new Failure('usage', 'expected --add or --take');
  if (reason.trim() === '' || reason.length > 200)
    throw new Failure('usage', '--reason: expected 1 to 200 characters');
  const amountRials = readWhole(add === undefined ? '--take' : '--add', (add ?? take) as string, MAX_RIALS);
  const { moveMoney } = await import('./sql-wallet.ts');
  const { currentTime } = await import('../../store/postgres/current-time.ts');
  const { output } = cli;
  await cli.withStore((db) =>
    withAccount(db, name, output, async ({ id: accountId, email }) => {
      const moved = await cli.audited(db, 'wallet.adjust', async (trx, tell) => {
        const own = { accountId };
        const hand = { outside: 'operator' } as const;
        const [from, to] = add === undefined ? [own, hand] : [hand, own];
        const at = await currentTime(trx);
        const order = { from, to, amountRials, refType: 'adjustment', description: reason, at } as const;
        const done = await moveMoney(trx, order);
        if (done.kind !== 'moved') return done;
        const balance = (add === undefined ? done.from : done.to) as number;
        const signed = add === undefined ? -amountRials : amountRials;
        const after = { amount_rials: signed, balance_rials: balance, description: reason };
        tell({ accountId, target: { name: email }, after });
        return { kind: 'moved' as const, balanceRials: balance };
      });
      const { kind, balanceRials: balance } = moved;
      const outcome = kind === 'moved' ? 'adjusted' : kind;
      if (output.json) await output.print(JSON.stringify({ email, outcome, balance_rials: balance }));
      else if (kind === 'moved') await output.print(`adjusted ${email}: ${balance} rials`);
      else await output.complain(`${email}: the wallet is ${kind}, with ${balance} rials`);
      return kind === 'moved' ? 0 : 1;
    }),
  );
}

async function topups(cli: Cli, name: string | undefined, state: string | undefined): Promise<void> {
  if (state !== undefined && !isTopupState(state))
    throw new Failure('usage', `--state: expected open, paid, cancelled or expired, not "${state}"`);
  const { listPayments } = await import('./sql-payments.ts');
  const { output } = cli;
  await cli.withStore(async (db) => {
    const print = async (accountId?: number) => {
      const page = { limit: MOST_LISTED, descending: true };
      const payments = await listPayments(db, { accountId, state }, page);
      if (output.json) {
        await output.print(JSON.stringify({ topups: payments.map(topupJson) }));
        return 0;
      }
      const heads = ['ID', 'REFERENCE', 'ACCOUNT', 'AMOUNT', 'GATEWAY', 'STATE', 'ORDERED', 'REFUSED'];
      const cells = payments.map((each) => [
        each.id,
        each.reference,
        each.email,
        each.amountRials,
        each.gateway,
        stateOf(each, each.now),
        each.createdAt.toISOString(),
        each.refusedRials ?? '-',
      ]);
      await output.print(printTable(heads, cells));
      return 0;
    };
    return name === undefined ? await print() : await withAccount(db, name, output, ({ id }) => print(id));
  });
}

async function confirm(cli: Cli, idText: string): Promise<void> {
  const id = readWhole('<id>', idText, Number.MAX_SAFE_INTEGER);
  const { creditTopup } = await import('./sql-payments.ts');
  const { toldPayment } = await import('../../store/audit/audit-notes.ts');
  const { output } = cli;
  await cli.withStore(async (db) => {
    const paid = await cli.audited(db, 'wallet.credit', async (trx, tell) => {
      const credited = await creditTopup(trx, { id });
      if (credited.kind !== 'credited') return credited;
      const { payment, balanceRials } = credited;
      const after = { ...toldPayment(payment), balance_rials: balanceRials };
      tell({ accountId: payment.accountId, target: { name: payment.email }, after });
      return credited;
    });
    const { kind } = paid;
    if (output.json) {
      const json = kind === 'absent' ? {} : topupJson(paid.payment);
      await output.print(JSON.stringify({ ...json, id, outcome: kind }));
    } else if (kind === 'credited')
      await output.print(`credited ${paid.payment.email} with ${paid.payment.amountRials} rials`);
    else await output.complain(kind === 'absent' ? `${id}: no such top-up` : `${id}: ${REFUSED[kind]}`);
    return kind === 'credited' ? 0 : 1;
  });
}

const REFUSED = {
  already: 'it is already paid',
  differs: 'its amount differs',
  full: 'the balance would exceed the largest amount that a wallet can hold',
} as const;

function isTopupState(text: string): text is TopupState {
  return TOPUP_STATES.some((state) => state === text);
}

function topupJson(payment: Payment): object {
  return {
    id: payment.id,
    reference: payment.reference,
    account_id: payment.accountId,
    email: payment.email,
    gateway: payment.gateway,
    amount_rials: payment.amountRials,
    state: stateOf(payment, payment.now),
    created_at: payment.createdAt.toISOString(),
    paid_at: payment.paidAt?.toISOString() ?? null,
    refused_rials: payment.refusedRials,
  };
}

function readWhole(name: string, text: string, most: number): number {
  const value = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value <= most) return value;
  throw new Failure('usage', `${name}: expected a whole number from 1 to ${most}, not "${text}"`);
}
