// Compares the money, subscriptions and suspensions in Postgres with the model, as text.

import { sql } from 'kysely';
import type { Database } from '../../../src/store/postgres/database.ts';
import type { ModelInvoice, MoneyModel } from './money-model.ts';

/** Number of rows already compared. Rows are only added. */
export interface Read {
  ledger: number;
  invoices: number;
}

export async function compareMoney(db: Database, model: MoneyModel, read: Read): Promise<string[]> {
  const ledger = model.ledger.slice(read.ledger);
  const invoices = model.invoices.slice(read.invoices).map(showInvoice);
  const differences = [
    ...unlike('wallet', model.accounts.map(showWallet), await wallets(db)),
    ...unlike('domain', model.holdings.map(showHolding), await holdings(db)),
    ...unlike('ledger', ledger, await ledgerRows(db, read.ledger)),
    ...unlike('invoice', invoices, await invoiceRows(db, read.invoices)),
    ...(await unsound(db)),
  ];
  read.ledger = model.ledger.length;
  read.invoices = model.invoices.length;
  return differences;
}

/** Compares all past and current subscriptions of each domain. */
export async function compareHistories(db: Database, model: MoneyModel): Promise<string[]> {
  const { rows } = await sql<{ domain: number; history: string }>`
    select domain_id as domain, string_agg(concat_ws(' ', p.slug, s.status, ${ms('s.started_at')}, ${ms('s.expires_at')},
      ${ms('s.ended_at')}), ', ' order by s.id) as history
    from subscriptions s join plans p on p.id = s.plan_id group by domain_id`.execute(db);
  const stored = new Map(rows.map(({ domain, history }) => [domain, history]));
  return model.holdings.flatMap(({ id, plans }) => {
    const wanted = plans.history
      .map(({ plan, status, from, until, over }) =>
        [plan, status, from, until, over].filter((each) => each !== null).join(' '),
      )
      .join(', ');
    return wanted === stored.get(id) ? [] : [`history of ${id}: expected ${wanted}, not ${stored.get(id)}`];
  });
}

function unlike(what: string, wanted: readonly string[], came: readonly string[]): string[] {
  const found: string[] = [];
  for (let i = 0; i < Math.max(wanted.length, came.length) && found.length < 5; i++) {
    if (wanted[i] !== came[i]) found.push(`${what}: expected ${wanted[i]}, not ${came[i]}`);
  }
  return found;
}

const ms = (column: string) => sql`(extract(epoch from ${sql.ref(column)}) * 1000)::bigint`;

async function lines(statement: Promise<{ rows: { line: string }[] }>): Promise<string[]> {
  return (await statement).rows.map(({ line }) => line);
}

function showWallet({ id, balance, since, isOverdue }: MoneyModel['accounts'][number]): string {
  return `${id} ${balance} ${since ?? '-'} ${isOverdue}`;
}

function wallets(db: Database): Promise<string[]> {
  return lines(
    sql<{ line: string }>`
      select concat_ws(' ', a.id, coalesce(w.balance_rials, 0), coalesce(${ms('w.negative_since')}::text, '-'),
        (w.suspended_at is not null)::text) as line
      from accounts a left join wallets w on w.account_id = a.id order by a.id`.execute(db),
  );
}

function showHolding({
  id,
  account,
  isDisabled,
  byHand,
  byDebt,
  plans,
}: MoneyModel['holdings'][number]): string {
  const { plan, status, from, until, graceUntil, renews, trial } = plans.own;
  const subscription = [plan, status, from, until ?? '-', graceUntil ?? '-', renews, trial];
  return [id, account.id, isDisabled, byHand, byDebt, ...subscription, plan].join(' ');
}

function holdings(db: Database): Promise<string[]> {
  return lines(
    sql<{ line: string }>`
      select concat_ws(' ', d.id, s.account_id, (d.status = 'disabled')::text, (d.suspended_at is not null)::text,
        (d.debt_suspended_at is not null)::text, p.slug, s.status, ${ms('s.started_at')},
        coalesce(${ms('s.expires_at')}::text, '-'), coalesce(${ms('s.grace_until')}::text, '-'), s.auto_renew::text,
        s.is_trial::text, own.slug) as line
      from domains d left join subscriptions s on s.domain_id = d.id and s.ended_at is null
        left join plans p on p.id = s.plan_id left join plans own on own.id = d.plan_id order by d.id`.execute(
      db,
    ),
  );
}

function ledgerRows(db: Database, skipped: number): Promise<string[]> {
  return lines(
    sql<{ line: string }>`
      select concat_ws(' ', coalesce(account_id::text, outside), amount_rials, balance_rials, ref_type) as line
      from ledger order by id offset ${skipped}`.execute(db),
  );
}

function showInvoice({ number, account, domain, total, from, until }: ModelInvoice): string {
  return `${number} ${account} ${domain} ${total} ${from ?? '-'} ${until ?? '-'}`;
}

function invoiceRows(db: Database, skipped: number): Promise<string[]> {
  return lines(
    sql<{ line: string }>`
      select concat_ws(' ', year || '-' || number, account_id, domain_id, total_rials,
        coalesce(${ms('period_start')}::text, '-'), coalesce(${ms('period_end')}::text, '-')) as line
      from invoices order by id offset ${skipped}`.execute(db),
  );
}

/** Checks invariants of money with Postgres alone. */
export async function unsound(db: Database): Promise<string[]> {
  return lines(
    sql<{ line: string }>`
      select 'all that moved adds up to ' || sum(amount_rials) as line from ledger having sum(amount_rials) <> 0
      union all
      select 'wallet ' || w.account_id || ' is not the sum of its rows' from wallets w
      where balance_rials <> (select coalesce(sum(amount_rials), 0) from ledger l where l.account_id = w.account_id)
      union all
      select 'invoices of ' || i.year || ' have gaps' from invoices i join invoice_years y using (year)
      group by i.year, y.last having count(*) <> y.last or max(i.number) <> y.last or min(i.number) <> 1`.execute(
      db,
    ),
  );
}
