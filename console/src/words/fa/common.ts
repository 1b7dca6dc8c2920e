// Persian texts of what every screen shares: messages, the frame, the states of a domain.

import { compact, date, grouped, listed, ltr, relative } from './figures.ts';

export const common = {
  cancel: 'انصراف',
  close: 'بستن',
  delete: 'حذف',
  goOn: 'ادامه',
  loading: 'در حال بارگذاری…',
  more: 'نمایش بیشتر',
  reload: 'بارگذاری دوبارهٔ صفحه',
  save: 'ذخیره',
  yes: 'بله',
  no: 'خیر',
  steps: { done: 'انجام شد', now: 'اکنون', next: 'بعدی' },
  tryAgain: 'تلاش دوباره',
  typeToConfirm: (name: string) => `برای تأیید، ${name} را وارد کنید`,
};

export const copy = {
  copy: 'کپی',
  copied: 'کپی شد',
  failed: 'مرورگر اجازهٔ کپی نمی‌دهد. متن را انتخاب و خودتان کپی کنید.',
  table: 'کپی جدول',
  tableCopied: (rows: number) => `${grouped(rows)} ردیف کپی شد.`,
};

export const failures = {
  status: (status: number) => `سرور با کد وضعیت ${status} پاسخ داد.`,
  noAnswer: 'سرور پاسخ نداد.',
  brokenOff: 'پیش از کامل شدن پاسخ، اتصال قطع شد.',
  late: (message: string) => `یکی از کارهای پیشین ناموفق بود: ${message}`,
  checkConnection: 'اتصال خود را بررسی کنید. نوشته‌های شما حفظ شده است.',
  nothingLost: 'نوشته‌های شما حفظ شده است. چند لحظهٔ دیگر دوباره تلاش کنید.',
  notFound: 'شاید حذف شده باشد یا با شما به اشتراک گذاشته نشده باشد.',
  wait: (seconds: number) => `${grouped(seconds)} ثانیه صبر کنید.`,
  requestId: (id: string) => `شناسهٔ درخواست برای پشتیبانی: ${ltr(id)}`,
  screenNotLoaded: 'این بخش از صفحه بارگذاری نشد. نوشته‌های شما حفظ شده است.',
};

export const notFound = {
  title: 'صفحه پیدا نشد',
  text: 'شاید نشانی اشتباه نوشته شده یا صفحه دیگر وجود ندارد.',
  back: 'رفتن به دامنه‌های شما',
};

export const time = { now: 'همین حالا', relative, date };

export const figures = { grouped, compact, listed };

export const frame = {
  skip: 'پرش به محتوا',
  language: 'زبان',
  navigation: 'منوی اصلی',
  light: 'روشن',
  dark: 'تیره',
  signOut: 'خروج',
  signOutFailed: 'هنوز از حساب خارج نشده‌اید: سرور در دسترس نبود. دوباره تلاش کنید.',
  domains: 'دامنه‌ها',
  account: 'حساب',
  wallet: 'کیف پول',
  tickets: 'پشتیبانی',
  reseller: 'نمایندهٔ فروش',
  operator: 'اپراتور',
  operatorPages: {
    live: 'نمای زنده',
    fleet: 'ناوگان',
    queues: 'صف‌ها',
    registries: 'مراکز ثبت',
    calls: 'فراخوانی‌های کند',
    domains: 'همهٔ دامنه‌ها',
    accounts: 'حساب‌ها',
    tickets: 'همهٔ درخواست‌ها',
    payments: 'پرداخت‌ها',
    audit: 'گزارش ممیزی',
  },
};

export const password = {
  again: 'تأیید گذرواژه',
  why: 'این تغییر حساس است و در ۱۵ دقیقهٔ گذشته هویت خود را تأیید نکرده‌اید.',
  password: 'گذرواژه',
  none: 'تأیید هویت',
  noneText:
    'شما گذرواژه ندارید. پیوندی برای تعیین گذرواژه درخواست کنید، با آن وارد شوید و دوباره تلاش کنید. نوشته‌های شما حفظ شده است.',
  identityText: 'ارائه‌دهندهٔ هویت می‌تواند در پنجره‌ای جدید هویت شما را تأیید کند.',
  windowBlocked:
    'مرورگر شما پنجرهٔ جدید را مسدود کرد. پنجره‌های جدید را برای این صفحه مجاز کنید و دوباره تلاش کنید.',
  identity: 'تأیید با ارائه‌دهندهٔ هویت',
  sendLink: 'ارسال پیوند به ایمیل من',
  linkSent: (email: string) =>
    `پیوندی به ${ltr(email)} فرستادیم. اگر نرسید، از اپراتور بخواهید با این فرمان پیوندی بسازد: zonefleet account reset`,
};

export const statuses = {
  active: 'فعال',
  pending: 'در انتظار',
  unverified: 'تأییدنشده',
  moved: 'منتقل‌شده',
  disabled: 'غیرفعال',
  banned: 'مسدود',
};
