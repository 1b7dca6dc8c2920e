// Money: wallets, top-ups, invoices and purchases (docs/api.md "Money").

import { grants } from '../../store/roles/role-privileges.ts';
import type { Feature } from '../feature.ts';

export const money: Feature = {
  name: 'money',
  schema: ['tables.sql'],
  privileges: {
    tables: {
      wallets: grants('', 'siu', 'siu'),
      ledger: grants('', 'si', 'si'),
      invoices: grants('', 's', ''), // written by `issue_invoice`
      invoice_years: grants('', '', ''),
      payments: grants('', 'siu', 'sd'),
    },
    sequences: { movement_id: ['zonefleet_api', 'zonefleet_worker'] },
    functions: {
      'accounts_in_debt()': ['zonefleet_worker'],
      'issue_invoice(bigint, bigint, bigint, bigint, jsonb, bigint, timestamptz, timestamptz, timestamptz, text, bigint, bigint)':
        ['zonefleet_api', 'zonefleet_worker'],
    },
  },
  // Unpaid top-ups. A bank transfer takes days.
  retention: { payments: `paid_at is null and expires_at < now() - interval '90 days'` },
  tags: { Money: 'The wallet, top-ups and invoices.' },
  adminTags: { Money: 'Top-ups of wallets.' },
  routes: async () => [
    ...(await import('./routes.ts')).MONEY_ROUTES,
    ...(await import('./routes-admin.ts')).PAYMENT_ROUTES,
  ],
  rounds: async () => [(await import('./job.ts')).startSubscriptions, (await import('./job.ts')).startDebts],
  commands: {
    listed: {
      wallet: 'show and adjust wallets, and manage top-ups',
      invoice: 'list and show invoices',
    },
    load: async () => {
      const { addWalletCommands } = await import('./cli-wallet.ts');
      const { addInvoiceCommands } = await import('./cli-invoice.ts');
      return (program, cli) => {
        addWalletCommands(program, cli);
        addInvoiceCommands(program, cli);
      };
    },
  },
};
