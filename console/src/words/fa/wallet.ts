// Persian texts of the wallet.

import { ltr } from './figures.ts';

export const wallet = {
  managed: 'هزینهٔ دامنه‌های شما را ارائه‌دهندهٔ خدمات شما می‌پردازد.',
  rials: (amount: string) => `${amount} ریال`,
  pages: { moves: 'کیف پول', topups: 'شارژها', invoices: 'فاکتورها' },
  balance: 'موجودی',
  below: 'موجودی منفی است. کیف پول را شارژ کنید، وگرنه دامنه‌های شما معلق می‌شوند.',
  overdraft: (amount: string) => `خریدها می‌توانند موجودی را تا ${amount} منفی کنند.`,
  topup: {
    title: 'شارژ کیف پول',
    amount: 'مبلغ به ریال',
    least: (amount: string) => `دست‌کم ${amount}.`,
    order: 'ثبت سفارش',
    ordered: (amount: string, reference: string) =>
      `سفارش شارژ به مبلغ ${amount} ثبت شد. شمارهٔ پیگیری: ${ltr(reference)}`,
    pay: 'ادامه و پرداخت',
  },
  moves: {
    none: 'هنوز تراکنشی ندارید',
    noneText: 'برای پرداخت هزینهٔ طرح دامنه‌هایتان، کیف پول را شارژ کنید.',
    at: 'زمان',
    what: 'شرح',
    amount: 'مبلغ',
    after: 'موجودی پس از آن',
    types: {
      topup: 'شارژ',
      subscription: 'طرح',
      switch_credit: 'بازگشت وجه زمان استفاده‌نشده',
      reseller_transfer: 'انتقال از ارائه‌دهندهٔ خدمات یا به آن',
      reseller_autofund: 'پرداخت ارائه‌دهندهٔ خدمات',
      adjustment: 'اصلاح به دست اپراتور',
    },
  },
  topups: {
    none: 'هنوز شارژی ثبت نشده است',
    reference: 'شمارهٔ پیگیری',
    ordered: 'زمان سفارش',
    how: 'روش پرداخت',
    cancel: 'لغو',
    cancelled: 'سفارش شارژ لغو شد.',
    states: { open: 'در انتظار پرداخت', paid: 'پرداخت‌شده', cancelled: 'لغوشده', expired: 'منقضی' },
  },
  invoices: {
    none: 'هنوز فاکتوری ندارید. برای هر خرید یک فاکتور صادر می‌شود.',
    number: 'شماره',
    issued: 'تاریخ صدور',
    for: 'بابت',
    total: 'مبلغ کل',
    print: 'نسخهٔ چاپی، در زبانهٔ جدید باز می‌شود',
    printHint: 'برای باز کردن نسخهٔ چاپی، شمارهٔ فاکتور را انتخاب کنید.',
    period: (from: string, to: string) => `از ${ltr(from)} تا ${ltr(to)}`,
  },
};
