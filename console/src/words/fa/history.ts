// Persian texts of the history of a domain.

import { countsText, grouped, ltr } from './figures.ts';

export const history = {
  back: 'همهٔ تغییرها',
  only: 'نمایش',
  all: 'همهٔ تغییرها',
  reload: 'به‌روزرسانی',
  older: 'نمایش تغییرهای قدیمی‌تر',
  list: 'تغییرها، از جدید به قدیم',
  empty: 'هنوز تغییری ثبت نشده است',
  emptyText: 'هر تغییر دامنه با مقدارهای پیشین و تازه در اینجا ثبت می‌شود و می‌توانید آن را برگردانید.',
  sources: {
    api: 'ویرایش',
    import: 'درون‌ریزی',
    scan: 'جست‌وجوی رکوردها',
    aname: 'به‌روزرسانی ANAME',
    acme: 'گواهی',
    cli: 'خط فرمان',
    update: 'به‌روزرسانی پویا',
    pdns: 'PowerDNS API',
    revert: 'برگرداندن',
    status: 'وضعیت',
  },
  you: 'شما',
  somebody: 'یکی از افراد دارای دسترسی',
  account: (id: number | undefined) => `حساب ${id ?? '؟'}`,
  byKey: (who: string | undefined, key: number | undefined) =>
    `${who === undefined ? '' : `${who}، با `}کلید API${key === undefined ? '' : ` (${key})`}`,
  byToken: 'نمایندهٔ فروش',
  byTsigKey: (who: string | undefined) => `${who === undefined ? '' : `${who}، با `}کلید TSIG`,
  byOperator: 'اپراتور',
  byService: 'سامانه',
  from: (address: string) => `از ${ltr(address)}`,
  records: countsText,
  rules: (count: number) => `${grouped(count)} قانون`,
  rule: (op: 'create' | 'update' | 'delete', type: string, id: number) =>
    `قانون ${id} (${type}) ${op === 'create' ? 'افزوده شد' : op === 'update' ? 'تغییر کرد' : 'حذف شد'}`,
  newDomain: 'جدید',
  goneDomain: 'حذف‌شده',
  reverts: (id: number) => `تغییر ${id} را برمی‌گرداند`,
  at: 'زمان',
  serial: 'شمارهٔ سریال زون',
  beforeAfter: 'پیش و پس از تغییر',
  revert: 'برگرداندن…',
  revertTitle: (id: number) => `برگرداندن تغییر ${id}`,
  revertText: 'تغییر تازه‌ای ثبت می‌شود که تغییر پیشین را خنثی می‌کند. این تغییر را هم می‌توانید برگردانید.',
  revertNow: 'برگرداندن',
  revertRules: 'تغییرهای قوانین آن نیز برگردانده می‌شود.',
  later: (count: number) =>
    `${grouped(count)} رکورد پس از آن دوباره تغییر کرده است. ابتدا تغییر تازه‌تر همان رکوردها را برگردانید.`,
};
