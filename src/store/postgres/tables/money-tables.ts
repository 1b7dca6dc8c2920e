// The tables of money, as Kysely sees them.

import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { Outside, RefType } from '../../../billing/ledger.ts';

interface WalletsTable {
  account_id: number;
  balance_rials: Generated<number>;
  negative_since: Date | null;
  suspended_at: Date | null;
  given_back_rials: Generated<number>;
  debt_ms: number | null;
}

interface LedgerTable {
  id: GeneratedAlways<number>;
  movement_id: number;
  account_id: number | null;
  outside: Outside | null;
  amount_rials: number;
  balance_rials: number | null;
  ref_type: RefType;
  ref_id: number | null;
  description: string;
  created_at: Date;
}

interface InvoicesTable {
  id: GeneratedAlways<number>;
  year: number;
  number: number;
  account_id: number;
  buyer_name: string | null;
  buyer_email: string;
  domain_id: number | null;
  domain: string | null;
  subscription_id: number | null;
  movement_id: number;
  lines: ColumnType<{ description: string; amount_rials: number }[], string, never>;
  total_rials: number;
  period_start: Date | null;
  period_end: Date | null;
  issued_at: Date;
  seller: string | null;
  funded_by: number | null;
  funded_rials: Generated<number>;
}

interface PaymentsTable {
  id: GeneratedAlways<number>;
  account_id: number;
  gateway: string;
  reference: string;
  amount_rials: number;
  created_at: Date;
  expires_at: Date;
  paid_at: Date | null;
  movement_id: number | null;
  refused_rials: number | null;
  refused_at: Date | null;
  cancelled_at: Date | null;
}

export interface MoneyTables {
  payments: PaymentsTable;
  wallets: WalletsTable;
  ledger: LedgerTable;
  invoices: InvoicesTable;
}
