// Persian texts of the cache.

import { grouped, ltr } from './figures.ts';

export const cache = {
  purge: 'پاک‌سازی کش',
  purgeText:
    'اگر چیزی را روی سرور خود تغییر داده‌اید، نسخهٔ قدیمی را پاک کنید تا بازدیدکنندگان بی‌درنگ تغییر را ببینند.',
  what: 'چه چیزی پاک شود؟',
  scopes: { all: 'همه‌چیز', host: 'یک میزبان', url: 'یک صفحه یا فایل', prefix: 'هر نشانی با یک پیشوند' },
  labels: { host: 'میزبان', url: 'نشانی', prefix: 'پیشوند نشانی' },
  hints: {
    host: (name: string) => `${ltr(`www.${name}`)} یا ${ltr(`*.${name}`)} برای همهٔ میزبان‌های زیرمجموعه`,
    url: (name: string) => ltr(`https://www.${name}/page?x=1`),
    prefix: (name: string) => ltr(`https://www.${name}/img/`),
  },
  purgeButtons: {
    all: 'پاک‌سازی همه‌چیز',
    host: 'پاک‌سازی میزبان',
    url: 'پاک‌سازی صفحه',
    prefix: 'پاک‌سازی پیشوند',
  },
  refresh: 'پاک‌سازی و دریافت دوباره',
  refreshText: 'لبه‌ها بی‌درنگ نسخهٔ تازه را دریافت می‌کنند تا هیچ بازدیدکننده‌ای منتظر نماند.',
  allTitle: (name: string) => `کل کش ${ltr(name)} پاک شود؟`,
  allText:
    'چیزی از دست نمی‌رود، اما تا زمانی که لبه‌ها دوباره پاسخ‌ها را در کش ذخیره کنند، همهٔ درخواست‌ها به سرور شما می‌رسد.',
  progress: (id: number) => `پاک‌سازی ${id}`,
  states: { done: 'انجام شد', replaced: 'جایگزین شد', silent: 'در انتظار', going: 'در حال انجام' },
  doneOf: (done: number, edges: number) => `روی ${grouped(done)} لبه از ${grouped(edges)} لبه انجام شد.`,
  stateTexts: {
    done: 'همهٔ لبه‌هایی که به بازدیدکنندگان پاسخ می‌دهند، کار را به پایان رسانده‌اند.',
    replaced: 'یک پاک‌سازی کامل بعدی جایگزین آن شد.',
    silent:
      'لبه‌های دیگر در دسترس نیستند. بازدیدکننده‌ای به آن‌ها نمی‌رسد و پس از بازگشت، پاک‌سازی را انجام می‌دهند.',
    going: 'لبه‌های دیگر به‌محض دریافت درخواست، پاک‌سازی را انجام می‌دهند.',
  },
  node: {
    done: 'انجام شد',
    going: 'در حال انجام',
    silent: 'خارج از دسترس؛ پس از بازگشت پاک می‌کند',
    failed: (why: string) => `ناموفق بود و دوباره تلاش می‌شود: ${why}`,
  },
  cached: 'پاسخ‌های موجود در کش',
  reload: 'به‌روزرسانی',
  host: 'میزبان',
  path: 'مسیر',
  filterHint: `بخشی از آن، یا الگویی با ${ltr('*')}`,
  filter: 'فیلتر',
  noFilter: 'نمایش همه',
  empty: 'کش خالی است',
  emptyText:
    'لبه‌ها پاسخ‌های کش‌پذیر نام‌های عبوری از لبه را ذخیره می‌کنند. مدت آن را با قانونی از نوع «کش» تعیین کنید.',
  noMatch: 'پاسخی با این مشخصات در کش نیست',
  noMatchText: 'بخش دیگری از میزبان یا مسیر را امتحان کنید.',
  range: (from: number, to: number, total: string) => `${grouped(from)} تا ${grouped(to)} از ${total}.`,
  dropped: (entries: number) => `${grouped(entries)} مورد قدیمی‌تر در فهرست نیامده است.`,
  before: 'قبلی',
  after: 'بعدی',
  edge: 'لبه',
  size: 'اندازه',
  cachedAt: 'زمان ذخیره',
  expires: 'انقضا',
  action: 'پاک‌سازی',
  take: 'پاک کردن',
  purgeOne: (what: string) => `پاک کردن ${ltr(what)}`,
};
