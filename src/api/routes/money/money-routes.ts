// All that customers ask and order about money.

import type { Route } from '../../calls/route.ts';
import { purchaseSubscription, setAutoRenew, switchSubscription } from './buying.ts';
import { getInvoice, listDomainInvoices, listOwnInvoices, showInvoice } from './invoices.ts';
import { notePayment } from './notices.ts';
import { cancelOneTopup, listTopups, orderOneTopup, showTopup } from './topups.ts';
import { getWallet, listWalletTransactions } from './wallet.ts';

export const MONEY_ROUTES: readonly Route[] = [
  purchaseSubscription,
  switchSubscription,
  setAutoRenew,
  getWallet,
  listWalletTransactions,
  orderOneTopup,
  listTopups,
  cancelOneTopup,
  showTopup,
  notePayment,
  listOwnInvoices,
  getInvoice,
  showInvoice,
  listDomainInvoices,
];
